function startReplay() { return null; }
function startLive() {}

// ---- playback --------------------------------------------------------------------------------------------------------

// The time within an episode, in frames, and the controls that move it.
class Player {
  constructor(changed) {
    this.setPeriod(0);
    this.changed = changed;
    this.time = 0;
    this.last = 0;
    this.playing = false;
    this.speed = 1;
    byId('play').addEventListener('click', () => this.toggle());
    byId('scrub').addEventListener('input', event => {
      this.pause();
      this.seek(Number(event.target.value));
    });
    byId('speed').addEventListener('change', event => { this.speed = Number(event.target.value); });
  }

  // Seconds of a frame; 0: the task has no clock, and frames are counted.
  setPeriod(period) {
    this.hasClock = period > 0;
    this.period = period > 0 ? period : 0.05;
  }

  describe() {
    return this.hasClock
      ? `${(this.time * this.period).toFixed(2)} / ${(this.last * this.period).toFixed(1)} s`
      : `step ${Math.floor(this.time)} / ${this.last}`;
  }

  setFrames(frames) {
    this.last = frames - 1;
    byId('scrub').max = String(this.last);
    this.seek(Math.min(this.time, this.last));
  }

  seek(time) {
    this.time = Math.min(Math.max(time, 0), this.last);
    byId('scrub').value = String(Math.floor(this.time));
    byId('clock').textContent = this.describe();
    byId('scrub').setAttribute('aria-valuetext', this.describe());
    this.changed();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (this.time >= this.last) this.seek(0);
    this.playing = true;
    this.before = null;
    this.showState();
    requestAnimationFrame(now => this.tick(now));
  }

  pause() {
    this.playing = false;
    this.showState();
  }

  showState() {
    byId('play').textContent = this.playing ? '❚❚' : '▶';
    byId('play').setAttribute('aria-label', this.playing ? 'Pause' : 'Play');
  }

  tick(now) {
    if (!this.playing) return;
    const seconds = this.before === null ? 0 : Math.min((now - this.before) / 1000, 0.25);
    this.before = now;
    this.seek(this.time + seconds * this.speed / this.period);
    if (this.time >= this.last) this.pause();
    else requestAnimationFrame(next => this.tick(next));
  }

  step(frames) {
    this.pause();
    this.seek(Math.round(this.time) + frames);
  }

  changeSpeed(direction) {
    const select = byId('speed');
    select.selectedIndex = Math.min(Math.max(select.selectedIndex + direction, 0), select.options.length - 1);
    this.speed = Number(select.value);
  }
}

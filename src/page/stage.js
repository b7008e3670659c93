// ---- the stage: one view for each policy that is shown, all with the same camera angle -------------------------------

// One cell: clear inside, its edges drawn.
function gridTexture() {
  const canvas = element('canvas', { width: '256', height: '256' });
  const context = canvas.getContext('2d');
  context.strokeStyle = '#fff';
  context.lineWidth = 4;
  context.strokeRect(0, 0, 256, 256);
  const texture = new THREE.CanvasTexture(canvas);
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  return texture;
}

class Stage {
  constructor(host, replay) {
    this.host = host;
    this.replay = replay;
    this.renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.renderer.autoClear = false;
    host.append(this.renderer.domElement);
    // The wheel scrolls the page until the stage has the focus.
    this.listeners = new AbortController();
    const { signal } = this.listeners;
    host.addEventListener('wheel', event => {
      if (document.activeElement !== host && !event.ctrlKey) event.stopImmediatePropagation();
    }, { capture: true, signal });
    host.addEventListener('pointerdown', () => host.focus({ preventScroll: true }), { signal });
    this.camera = new THREE.PerspectiveCamera(36, 1, 0.01, 500);
    this.camera.up.set(0, 0, 1);
    this.controls = new THREE.OrbitControls(this.camera, host);
    this.controls.enableKeys = false;
    this.controls.enableDamping = false;
    this.controls.maxPolarAngle = Math.PI * 0.53;
    this.controls.addEventListener('change', () => this.onChange && this.onChange());
    this.follow = true;
    this.forces = true;
    this.views = [];
    this.floor = replay.geoms.some(geom => geom.type === 'plane');
    this.fullForce = largestForce(replay);
    this.measure();
    this.resetCamera();
    this.observer = new ResizeObserver(() => this.onChange && this.onChange());
    this.observer.observe(host);
  }

  // A browser has room for few of these.
  dispose() {
    this.onChange = null;
    this.listeners.abort();
    this.observer.disconnect();
    this.controls.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }

  // What the camera looks at, and how large it is: a robot on a floor as it starts, any other with all its movements.
  measure() {
    const model = new RobotModel(this.replay);
    const box = new THREE.Box3();
    const add = (episode, frame) => {
      model.pose(episode, frame, 0);
      model.root.updateMatrixWorld(true);
      if (this.floor) for (const body of model.bodies) box.expandByObject(body);
      else box.expandByObject(model.root);
    };
    const first = this.replay.policies[0].episodes[0];
    add(first, 0);
    this.start = model.bodies[0].position.clone();
    if (!this.floor) {
      for (const { episodes: [episode] } of this.replay.policies) for (let frame = 0; frame < episode.frames; frame += 10) add(episode, frame);
    }
    const size = box.getSize(new THREE.Vector3());
    this.home = box.getCenter(new THREE.Vector3()).toArray();
    this.reach = Math.max(0.05, size.length() / 2);
    this.height = size.z;
    // A robot that lies flat is looked at from above, one that stands from its side.
    this.flat = size.z < 0.15 * Math.max(size.x, size.y) && size.y > 0.3 * size.x;
    this.angle = this.flat ? [0, -0.35, 1] : [0.32, -1, 0.32];
    this.low = this.floor ? 0 : box.min.z;
  }

  resetCamera() {
    // One that stands upright is mostly height, and needs room to hop.
    const distance = this.flat ? 2 * this.reach : this.floor ? Math.max(2.6 * this.reach, 2.3 * this.height) : 2.3 * this.reach;
    const away = new THREE.Vector3(...this.angle).normalize().multiplyScalar(distance);
    this.controls.target.set(...this.home);
    this.camera.position.copy(this.controls.target).add(away);
    this.controls.update();
  }

  // A floor with a grid that moves along in whole cells, so that it has no end.
  makeFloor() {
    const cell = 10 ** Math.round(Math.log10(this.reach)) / 2;
    const size = 80 * cell;
    const shadow = new THREE.Mesh(new THREE.PlaneBufferGeometry(size, size), new THREE.ShadowMaterial({ opacity: 0.25, depthWrite: false }));
    shadow.receiveShadow = true;
    const texture = gridTexture();
    texture.repeat.set(80, 80);
    texture.anisotropy = this.renderer.capabilities.getMaxAnisotropy();
    const grid = new THREE.Mesh(new THREE.PlaneBufferGeometry(size, size), new THREE.MeshBasicMaterial({ map: texture, transparent: true, depthWrite: false }));
    grid.position.z = -0.002 * this.reach;
    const group = new THREE.Group();
    group.add(grid, shadow);
    group.position.z = this.low;
    return { group, grid, cell };
  }

  makeView(policy) {
    const scene = new THREE.Scene();
    const model = new RobotModel(this.replay);
    const floor = this.makeFloor();
    const sun = new THREE.DirectionalLight('#fff6e8', 0.75);
    sun.castShadow = true;
    sun.shadow.mapSize.set(1024, 1024);
    sun.shadow.bias = -0.0008;
    const area = 1.8 * this.reach;
    Object.assign(sun.shadow.camera, { left: -area, right: area, top: area, bottom: -area, near: 0.1 * this.reach, far: 14 * this.reach });
    scene.add(model.root, floor.group, sun, sun.target, new THREE.HemisphereLight('#f4f8ff', '#8d8577', 0.72));
    const label = element('div', { class: 'label' });
    const divider = element('div', { class: 'divider' });
    this.host.append(label, divider);
    return { policy, scene, model, floor, sun, label, divider };
  }

  show(policies) {
    for (const view of this.views) {
      view.label.remove();
      view.divider.remove();
    }
    this.views = policies.map(policy => this.makeView(policy));
  }

  // Side by side, or one below the other where the stage is narrow.
  layout() {
    const width = this.host.clientWidth, height = this.host.clientHeight, count = this.views.length || 1;
    const columns = width / count >= 200 ? count : width >= 420 ? Math.ceil(count / 2) : 1;
    const rows = Math.ceil(count / columns);
    return this.views.map((view, i) => {
      const column = i % columns, row = Math.floor(i / columns);
      const w = width / columns, h = height / rows;
      return { view, x: column * w, y: row * h, w, h };
    });
  }

  // time in frames; words(policy, episode, frame) is what stands above a view.
  draw(time, episodeIndex, words) {
    const width = this.host.clientWidth, height = this.host.clientHeight;
    if (!width || !height) return;
    this.renderer.setSize(width, height, false);
    const background = new THREE.Color(cssColor('--stage'));
    this.renderer.setClearColor(background);
    this.renderer.setScissorTest(false);
    this.renderer.clear();
    this.renderer.setScissorTest(true);
    for (const [index, { view, x, y, w, h }] of this.layout().entries()) {
      const episode = view.policy.episodes[episodeIndex];
      const at = Math.min(time, episode.frames - 1);
      const frame = Math.floor(at);
      view.model.pose(episode, frame, at - frame);
      view.model.showForces(episode, frame, 0.9 * this.reach, this.fullForce, this.forces, cssColor('--bad'));
      const shift = this.shiftOf(view);
      this.placeLights(view, shift);
      view.scene.background = background;
      view.scene.fog = new THREE.Fog(background, 7 * this.reach, 22 * this.reach);
      view.floor.grid.material.color.set(cssColor('--floor'));
      const camera = this.camera.clone();
      camera.position.add(shift);
      camera.aspect = w / h;
      // A narrow view steps back, so that the robot still fits.
      camera.fov = 2 * Math.atan(Math.tan(18 * Math.PI / 180) * Math.max(1, 1.35 / camera.aspect)) * 180 / Math.PI;
      camera.updateProjectionMatrix();
      this.renderer.setViewport(x, height - y - h, w, h);
      this.renderer.setScissor(x, height - y - h, w, h);
      this.renderer.render(view.scene, camera);
      Object.assign(view.label.style, { left: `${x}px`, top: `${y}px`, maxWidth: `${w - 16}px` });
      view.label.textContent = words(view.policy, episode, frame);
      view.label.classList.toggle('alone', this.views.length === 1);
      view.label.style.setProperty('--dot', seriesColor(index));
      Object.assign(view.divider.style, x > 0 ? { left: `${x}px`, top: `${y}px`, width: '1px', height: `${h}px` } : { left: '0', top: `${y}px`, width: `${w}px`, height: y > 0 ? '1px' : '0' });
    }
  }

  // How far the camera has moved along with the robot; a robot that stands on a floor is not followed up and down.
  shiftOf(view) {
    if (!this.follow || !this.floor) return new THREE.Vector3();
    const place = view.model.bodies[0].position;
    return new THREE.Vector3(place.x - this.start.x, place.y - this.start.y, 0);
  }

  placeLights(view, shift) {
    const target = new THREE.Vector3(...this.home).add(shift);
    view.sun.target.position.copy(target);
    view.sun.position.copy(target).add(new THREE.Vector3(0.6, -0.9, 1.9).multiplyScalar(2.4 * this.reach));
    const { cell, group } = view.floor;
    group.position.x = Math.round(target.x / cell) * cell;
    group.position.y = Math.round(target.y / cell) * cell;
  }
}

// What keeps three dimensions from being drawn; empty: nothing.
function webglProblem() {
  if (typeof THREE === 'undefined') return 'This page was made without the 3-D library.';
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('webgl2') || canvas.getContext('webgl');
  return context ? '' : 'This browser has no WebGL, so the robot cannot be drawn; the sums of reward and cost beside it still play.';
}

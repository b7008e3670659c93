// ---- three-dimensional shapes from MuJoCo's geoms ------------------------------------------------------------------

// MuJoCo's shapes stand along z, three's along y.
function alongZ(geometry) {
  return geometry.rotateX(Math.PI / 2);
}

function capsuleGeometry(radius, half) {
  const profile = [];
  const steps = 10;
  for (let i = 0; i <= steps; ++i) {
    const angle = Math.PI / 2 * (i / steps - 1);
    profile.push(new THREE.Vector2(Math.max(radius * Math.cos(angle), 1e-6), -half + radius * Math.sin(angle)));
  }
  for (let i = 0; i <= steps; ++i) {
    const angle = Math.PI / 2 * i / steps;
    profile.push(new THREE.Vector2(Math.max(radius * Math.cos(angle), 1e-6), half + radius * Math.sin(angle)));
  }
  return alongZ(new THREE.LatheBufferGeometry(profile, 28));
}

// Nothing for what has no shape of its own here: planes are the floor, meshes and height fields are not drawn.
function geomGeometry({ type, size: [a, b, c] }) {
  switch (type) {
    // A hair larger: a ball at the end of a capsule of the same radius would flicker.
    case 'sphere': return new THREE.SphereBufferGeometry(1.015 * a, 32, 24);
    case 'capsule': return capsuleGeometry(a, b);
    case 'cylinder': return alongZ(new THREE.CylinderBufferGeometry(a, a, 2 * b, 32));
    case 'box': return new THREE.BoxBufferGeometry(2 * a, 2 * b, 2 * c);
    case 'ellipsoid': return new THREE.SphereBufferGeometry(1, 32, 24).scale(a, b, c);
    default: return null;
  }
}

function setTurn(object, [w, x, y, z]) {
  object.quaternion.set(x, y, z, w);
}

// A shaft and a head along z, made longer and turned for each force.
class Arrow {
  constructor() {
    this.material = new THREE.MeshBasicMaterial();
    this.shaft = new THREE.Mesh(alongZ(new THREE.CylinderBufferGeometry(1, 1, 1, 12)).translate(0, 0, 0.5), this.material);
    this.head = new THREE.Mesh(alongZ(new THREE.ConeBufferGeometry(1, 1, 16)).translate(0, 0, 0.5), this.material);
    this.group = new THREE.Group();
    this.group.add(this.shaft, this.head);
  }

  set(place, force, metresPerNewton, width, color) {
    const length = force.length() * metresPerNewton;
    const head = Math.min(5 * width, 0.5 * length);
    this.group.position.set(...place);
    this.group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), force.clone().normalize());
    this.shaft.scale.set(width, width, length - head);
    this.head.scale.set(0.45 * head, 0.45 * head, head);
    this.head.position.z = length - head;
    this.material.color.set(color);
  }
}

// A robot as a tree of groups, one for each body that moves.
class RobotModel {
  constructor(replay) {
    this.root = new THREE.Group();
    this.bodies = replay.bodies.map(() => new THREE.Group());
    this.root.add(...this.bodies);
    for (const geom of replay.geoms) {
      const geometry = geomGeometry(geom);
      if (!geometry || geom.rgba[3] === 0) continue;
      const [r, g, b, alpha] = geom.rgba;
      const material = new THREE.MeshStandardMaterial({ color: new THREE.Color(r, g, b), roughness: 0.55, metalness: 0.05, transparent: alpha < 1, opacity: alpha });
      const mesh = new THREE.Mesh(geometry, material);
      mesh.position.set(...geom.position);
      setTurn(mesh, geom.turn);
      mesh.castShadow = mesh.receiveShadow = true;
      (geom.body < 0 ? this.root : this.bodies[geom.body]).add(mesh);
    }
    this.markers = replay.markers.map(({ radius }) => {
      const mesh = new THREE.Mesh(new THREE.SphereBufferGeometry(radius, 24, 16), new THREE.MeshStandardMaterial({ color: '#009E73', roughness: 0.5 }));
      mesh.castShadow = true;
      this.root.add(mesh);
      return mesh;
    });
    this.arrows = [];
  }

  // Between frame i and the next, at `share` of the way.
  pose(episode, i, share) {
    const count = this.bodies.length;
    const next = Math.min(i + 1, episode.frames - 1);
    const from = new THREE.Quaternion(), to = new THREE.Quaternion();
    this.bodies.forEach((body, b) => {
      const p = 3 * (i * count + b), q = 3 * (next * count + b);
      for (const [k, axis] of ['x', 'y', 'z'].entries()) {
        body.position[axis] = episode.positions[p + k] * (1 - share) + episode.positions[q + k] * share;
      }
      const s = 4 * (i * count + b), t = 4 * (next * count + b);
      const turn = (target, at) => target.set(episode.turns[at + 1], episode.turns[at + 2], episode.turns[at + 3], episode.turns[at]).normalize();
      turn(from, s).slerp(turn(to, t), share);
      body.quaternion.copy(from);
    });
    this.markers.forEach((marker, m) => marker.position.set(...episode.markers[m]));
  }

  // A force of `full` newton is an arrow as long as `unit`; it starts where the floor pushes.
  showForces(episode, i, unit, full, visible, color) {
    const { slots, values } = episode.forces;
    while (this.arrows.length < slots) {
      this.arrows.push(new Arrow());
      this.root.add(this.arrows[this.arrows.length - 1].group);
    }
    this.arrows.forEach((arrow, slot) => {
      const at = 6 * (i * slots + slot);
      const force = slot < slots ? new THREE.Vector3(...values.subarray(at + 3, at + 6)) : new THREE.Vector3();
      arrow.group.visible = visible && force.length() > 0.02 * full;
      if (arrow.group.visible) arrow.set(values.subarray(at, at + 3), force, unit / full, 0.02 * unit, color);
    });
  }
}

// The largest force of a replay, for the arrows' scale.
function largestForce(replay) {
  let largest = 0;
  for (const { forces } of replay.policies.flatMap(policy => policy.episodes)) {
    for (let at = 0; at < forces.values.length; at += 6) largest = Math.max(largest, Math.hypot(...forces.values.subarray(at + 3, at + 6)));
  }
  return largest || 1;
}

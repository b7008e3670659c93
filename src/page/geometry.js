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
    this.weight = replay.weight || 1;
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

  // The robot's weight is an arrow as long as `unit`; an arrow points from where the floor pushes.
  showForces(episode, i, unit, visible, color) {
    const { slots } = episode.forces;
    while (this.arrows.length < slots) {
      const arrow = new THREE.ArrowHelper(new THREE.Vector3(0, 0, 1), new THREE.Vector3(), 1, color);
      this.root.add(arrow);
      this.arrows.push(arrow);
    }
    this.arrows.forEach((arrow, slot) => {
      const at = 6 * (i * slots + slot);
      const force = slot < slots ? new THREE.Vector3(...episode.forces.values.subarray(at + 3, at + 6)) : new THREE.Vector3();
      const size = force.length();
      const length = unit * size / this.weight;
      arrow.visible = visible && size > 0.02 * this.weight;
      if (!arrow.visible) return;
      arrow.position.set(...episode.forces.values.subarray(at, at + 3));
      arrow.setDirection(force.divideScalar(size));
      arrow.setLength(length, Math.min(0.3 * length, 0.12 * unit), Math.min(0.18 * length, 0.08 * unit));
      arrow.setColor(new THREE.Color(color));
    });
  }

  // Centre and half size of all that moves, over a whole episode or at one moment.
  static extent(episode, count, from = 0, to = episode.frames) {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (let p = 3 * from * count; p < 3 * to * count; ++p) {
      low[p % 3] = Math.min(low[p % 3], episode.positions[p]);
      high[p % 3] = Math.max(high[p % 3], episode.positions[p]);
    }
    return { low, high };
  }
}

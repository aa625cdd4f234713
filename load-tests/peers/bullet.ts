/**
 * Bullet's soft bodies, as WebAssembly (npm `ammojs-typed`). It creates the grid itself (`CreatePatch`: the same
 * vertices, edges and alternating diagonals), because its import of triangle meshes needs memory quadratic in the
 * vertices. Scalar code, no SIMD.
 */
import createAmmo from "ammojs-typed/wasm";
import { hashOf, type Peer, type Problem, STEP_SECONDS, timed } from "./peer.ts";

const GRAVITY = -9.81;
const FIRST_CORNERS = 1 | 2;

export async function bulletPeer({ positions, cells, mass }: Problem): Promise<Peer> {
  if (!cells) throw new RangeError("bullet: cells is undefined, but must be the grid's cells along x and z");
  const A = await createAmmo();
  const configuration = new A.btSoftBodyRigidBodyCollisionConfiguration();
  const dispatcher = new A.btCollisionDispatcher(configuration);
  const world = new A.btSoftRigidDynamicsWorld(
    dispatcher,
    new A.btDbvtBroadphase(),
    new A.btSequentialImpulseConstraintSolver(),
    configuration,
    new A.btDefaultSoftBodySolver(),
  );
  const gravity = new A.btVector3(0, GRAVITY, 0);
  const info = world.getWorldInfo();
  world.setGravity(gravity);
  info.set_m_gravity(gravity);
  const [nx, nz] = cells;
  const corner = (i: number, k: number): InstanceType<typeof A.btVector3> => {
    const at = 3 * (k * (nx + 1) + i);
    return new A.btVector3(positions[at]!, positions[at + 1]!, positions[at + 2]!);
  };
  const body = new A.btSoftBodyHelpers().CreatePatch(
    info,
    corner(0, 0),
    corner(nx, 0),
    corner(0, nz),
    corner(nx, nz),
    nx + 1,
    nz + 1,
    FIRST_CORNERS,
    true,
  );
  const config = body.get_m_cfg();
  const nodes = body.get_m_nodes();
  const count = positions.length / 3;
  if (nodes.size() !== count) throw new Error(`bullet: the patch has ${nodes.size()} vertices, but must have ${count}`);
  config.set_collisions(0);
  config.set_kDP(0);
  body.setTotalMass(mass, false);
  for (const vertex of [0, nx]) body.setMass(vertex, 0);
  world.addSoftBody(body, 1, 0);
  return {
    name: "Bullet",
    step(iterations) {
      config.set_piterations(iterations);
      return timed(() => world.stepSimulation(STEP_SECONDS, 0));
    },
    hash: () =>
      hashOf(
        (function* () {
          for (let i = 0; i < count; i++) {
            const at = nodes.at(i).get_m_x();
            yield* [at.x(), at.y(), at.z()];
          }
        })(),
      ),
  };
}

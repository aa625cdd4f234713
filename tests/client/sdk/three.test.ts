/** The object of a three.js scene: boxes of its bodies, and orthographic cameras. */
import { Box3, OrthographicCamera, PerspectiveCamera, Vector3 } from "three";
import { describe, expect, test } from "vitest";
import type { Room } from "../../../client/sdk/room.ts";
import { PliantRoom, RoomLights } from "../../../client/sdk/three.ts";
import { RubberBand } from "../../../client/view/grabs/rubberBand.ts";

/** Two triangles of cloth, the second one spawnable. */
function room(): { room: Room; positions: Float32Array[]; spawnable: number[]; tellFrame: () => void } {
  const rest = [Float32Array.of(0, 0, 0, 1, 0, 0, 0, 2, 0), Float32Array.of(5, 0, 0, 6, 0, 0, 5, 1, 1)];
  const bodies = rest.map((one, index) => ({
    index,
    name: `body ${index}`,
    kind: "cloth",
    first: 3 * index,
    count: 3,
    quantum: 1,
    triangles: new Uint8Array(Uint32Array.of(0, 1, 2).buffer),
    rest: new Uint8Array(one.buffer),
  }));
  const positions = rest.map((one) => one.slice());
  const spawnable = [1];
  const listeners: (() => void)[] = [];
  const made = {
    topology: { title: "two", bodies, interaction: {}, colliders: [], origin: [0, 0, 0] },
    bodies,
    positions: (index: number) => positions[index]!,
    spawnable,
    grabs: [],
    members: [],
    member: 1,
    server: "http://nowhere",
    on: (name: string, listener: () => void) => {
      if (name === "frame") listeners.push(listener);
      return () => {};
    },
  };
  return {
    room: made as unknown as Room,
    positions,
    spawnable,
    tellFrame: () => {
      for (const listener of listeners) listener();
    },
  };
}

const boxOf = (object: PliantRoom, precise = false): number[] => {
  const { min, max } = new Box3().setFromObject(object, precise);
  return [...min, ...max];
};

describe("Box3.setFromObject", () => {
  test("is the box of the drawn bodies, from the start, without bodies that are not in the room", () => {
    const made = room();
    const object = new PliantRoom(made.room);
    for (const precise of [false, true]) expect(boxOf(object, precise)).toEqual([0, 0, 0, 1, 2, 0]);
    made.spawnable.length = 0;
    made.positions[0]!.set([0, -3, 0]);
    made.tellFrame();
    object.update(new PerspectiveCamera(), performance.now() + 10_000);
    expect(boxOf(object)).toEqual([0, -3, 0, 6, 2, 1]);
  });

  test("follows the object's place and size", () => {
    const object = new PliantRoom(room().room);
    object.position.set(10, 0, 0);
    object.scale.setScalar(2);
    expect(boxOf(object)).toEqual([10, 0, 0, 12, 4, 0]);
  });
});

test("grab lines have the same thickness on the screen at every distance of an orthographic camera", () => {
  const band = new RubberBand("#d55e00");
  const radius = (camera: OrthographicCamera): number => {
    band.update(new Vector3(0, 0, 0), new Vector3(0, 1, 0), camera);
    const [mesh] = band.group.children as unknown as { material: { uniforms: { radius: { value: number } } } }[];
    return mesh!.material.uniforms.radius.value;
  };
  const camera = new OrthographicCamera(-2, 2, 1, -1);
  camera.position.z = 5;
  camera.updateMatrixWorld();
  const near = radius(camera);
  expect(near).toBeGreaterThan(0);
  camera.position.z = 500;
  camera.updateMatrixWorld();
  expect(radius(camera)).toBe(near);
  camera.zoom = 2;
  expect(radius(camera)).toBe(near / 2);
});

test("an orthographic camera draws a room", () => {
  const object = new PliantRoom(room().room);
  expect(() => object.update(new OrthographicCamera())).not.toThrow();
});

test("the light rig has light from the sky and from a sun", () => {
  expect(new RoomLights().children.map(({ type }) => type).sort()).toEqual(["DirectionalLight", "HemisphereLight"]);
});

/**
 * Contact events, from a real simulation to members: members that subscribed are told once of each new contact, and
 * other members are not.
 */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import WebSocket from "ws";
import { joinRoom, type JoinOptions, type Room } from "../../../client/sdk/index.ts";
import { startTestServer, type TestServer } from "../testServer.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ scenesDir: fileURLToPath(new URL("../scenes", import.meta.url)) });
});
afterAll(() => server.close());

interface Contact {
  tick: number;
  bodies: readonly [number, number];
}

async function listener(name: string, options: JoinOptions): Promise<{ room: Room; contacts: Contact[] }> {
  const room = await joinRoom(`${server.url}/r/contact`, {
    scene: "falling",
    name,
    WebSocket: WebSocket as never,
    ...options,
  });
  const contacts: Contact[] = [];
  room.on("contact", (contact) => contacts.push(contact));
  return { room, contacts };
}

/** Resolves with the first frame for which `done` is true. @param look reads the room before the next frame arrives */
const when = <T>(room: Room, done: () => boolean, look: () => T): Promise<T> =>
  new Promise((resolve) => {
    const off = room.on("frame", () => {
      if (!done()) return;
      off();
      resolve(look());
    });
  });

const names = (room: Room, { bodies }: Contact): string => bodies.map((body) => room.bodies[body]!.name).join(" ");

test("two boxes fall: the lower one first lands alone, then the upper one touches it", async () => {
  const deaf = await listener("deaf", {});
  const { room, contacts } = await listener("hears", { contacts: true });
  room.reset();
  const heights = (body: string): number[] => [...room.positions(body)].filter((_, k) => k % 3 === 1);
  const { gap, tick } = await when(
    room,
    () => contacts.length > 0,
    () => ({ gap: Math.min(...heights("above")) - Math.max(...heights("below")), tick: room.tick }),
  );
  expect(names(room, contacts[0]!)).toBe("below above");
  // The frame after the message shows the contact: the contact distance is less than a centimeter.
  expect(gap).toBeLessThan(0.01);
  expect([0, 1]).toContain(tick - contacts[0]!.tick);
  // The bodies may bounce once more. A member who joins later is told of new contacts only.
  const late = await listener("late", { contacts: true });
  const from = room.tick;
  await Promise.all(
    [late.room, room].map((one) =>
      when(
        one,
        () => one.tick > from + 120,
        () => {},
      ),
    ),
  );
  const later = ({ tick }: Contact): boolean => tick > from && tick <= from + 120;
  expect(late.contacts.filter(later)).toEqual(contacts.filter(later));
  expect(late.contacts.every(({ tick }) => tick >= from)).toBe(true);
  expect(deaf.contacts).toEqual([]);
  for (const one of [deaf.room, room, late.room]) one.leave();
});

/**
 * Checks the guarantees that hold in every scenario: no room has two owners, none is hidden, and none loses more than
 * the journal's interval. No room resumes from a state that an undo has ended, and every state matches its recording.
 * Owners check their other acknowledgements themselves (owner.ts).
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ADMIN_TOKEN, type Fleet, type Member } from "./fleet.ts";

/**
 * Ticks that a killed process may lose while no thread waits for a processor, ms: the journal's flush interval and the
 * write itself (server/durability.ts).
 */
const MAY_LOSE_MS = 500;
/** Window for measuring how long threads waited, ms. */
const RECENT_MS = 2000;

/** Longest time between two ticks of a room up to a moment: 17 ms on an idle machine. */
function longestPause(ticks: readonly { ms: number }[], untilMs: number): number {
  const recent = ticks.map(({ ms }) => ms).filter((ms) => ms > untilMs - RECENT_MS && ms <= untilMs);
  return Math.max(0, ...recent.map((ms, i) => (recent[i + 1] ?? untilMs) - ms));
}

/**
 * Finds ticks by a process that was not the last to open the room. Ticks in the same ms as an opening have no order.
 */
export function twins(fleet: Fleet): string[] {
  const openings = fleet.everybody.flatMap(({ name, log }) =>
    log
      .filter(({ msg, room }) => msg === "room opened" && room !== undefined)
      .map(({ ms, room }) => ({ ms, room, by: name })),
  );
  const found: string[] = [];
  for (const [room, ticks] of fleet.ticks()) {
    const opened = openings.filter((opening) => opening.room === room).sort((a, b) => a.ms - b.ms);
    for (const { by, tick, ms } of ticks) {
      const owner = opened.findLast((opening) => opening.ms <= ms - 1);
      if (owner && owner.by !== by && !opened.some((opening) => opening.by === by && Math.abs(opening.ms - ms) <= 1)) {
        found.push(
          `${room}: ${by} stepped tick ${tick} ${(ms - owner.ms).toFixed(1)} ms after ${owner.by} had opened it`,
        );
      }
    }
  }
  return found;
}

/** Finds rooms that a server does not list, or lists and cannot reach. */
export async function hidden(fleet: Fleet, rooms: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const { name, url } of fleet.members) {
    const listed = ((await (await fetch(`${url}/api/rooms`)).json()) as { rooms: { room: string }[] }).rooms.map(
      ({ room }) => room,
    );
    for (const room of rooms) {
      if (listed.filter((one) => one === room).length !== 1)
        found.push(`${room}: listed ${listed.filter((one) => one === room).length} times by ${name}`);
      const { status } = await fetch(`${url}/api/rooms/${room}`);
      if (status !== 200) found.push(`${room}: ${name} answers ${status}`);
    }
  }
  return found;
}

/**
 * Finds rooms of a member that ended at `endedMs` and that resumed elsewhere from too early a tick. Ticks up to
 * `mayLoseMs` before its end must be kept.
 * @param mayLoseMs 0 for a member that ended in order
 */
export function lost(fleet: Fleet, member: Member, endedMs: number, mayLoseMs = MAY_LOSE_MS): string[] {
  const found: string[] = [];
  for (const [room, ticks] of fleet.ticks()) {
    // The writing thread may wait as long as the stepping thread, and so may the store.
    const waitedMs = mayLoseMs > 0 ? 2 * longestPause(ticks, endedMs) : 0;
    const last = ticks.findLast((stepped) => stepped.ms <= endedMs - mayLoseMs - waitedMs);
    if (last?.by !== member.name || ticks.findLast((stepped) => stepped.ms <= endedMs)?.by !== member.name) continue;
    // An undo may have set it back since.
    if (fleet.undos.some((undo) => undo.room === room && undo.askedMs <= endedMs && undo.answeredMs >= last.ms))
      continue;
    const restored = fleet.everybody
      .flatMap(({ log }) => log)
      .filter((entry) => entry.msg === "room restored" && entry.room === room && entry.ms > last.ms)
      .sort((a, b) => a.ms - b.ms)[0];
    if (!restored) found.push(`${room}: not restored since ${member.name} ended`);
    else if ((restored.tick as number) < last.tick)
      found.push(
        `${room}: resumed from tick ${restored.tick}, but ${member.name} had stepped ${last.tick} ${Math.round(endedMs - last.ms)} ms before its end`,
      );
  }
  return found;
}

/** Finds rooms that resumed from a tick which an acknowledged undo had ended. */
export function redone(fleet: Fleet, sinceMs: number): string[] {
  const found: string[] = [];
  const stepped = fleet.ticks();
  for (const { room, ms, msg, tick = 0 } of fleet.everybody.flatMap(({ log }) => log)) {
    if (msg !== "room restored" || room === undefined || ms < sinceMs) continue;
    const undo = fleet.undos.findLast((one) => one.room === room && one.askedMs < ms);
    if (!undo || undo.tick === null || undo.answeredMs >= ms) continue;
    const ticks = (stepped.get(room) ?? []).filter((one) => one.ms > undo.askedMs && one.ms <= ms + 1);
    // Ticks before the undo belong to the undone part.
    const back = ticks.findIndex((one, i) => i > 0 && one.tick <= ticks[i - 1]!.tick);
    const first = ticks[0] && ticks[0].tick <= undo.tick + 1 ? 0 : back;
    const reached = Math.max(undo.tick, ...(first < 0 ? [] : ticks.slice(first)).map((one) => one.tick));
    if (tick > reached)
      found.push(
        `${room}: resumed from tick ${tick}, but an undo to ${undo.tick} was acknowledged, and only ${reached} reached since`,
      );
  }
  return found;
}

/**
 * Replays the room's recording, which must give every hash that any of its owners logged.
 * @returns the difference, or null
 */
export async function replayDiffers(fleet: Fleet, room: string): Promise<string | null> {
  const answer = await fetch(`${fleet.members[0].url}/api/rooms/${room}/recording`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  if (answer.status !== 200) return `${room}: no recording, ${answer.status} ${await answer.text()}`;
  const file = join(fleet.folder, `${room}.pliant`);
  writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
  const child = spawn(process.execPath, ["server/tools/replay.ts", file], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (output += data.toString()));
  const code = await new Promise((resolve) => child.once("close", resolve));
  return code === 0 ? null : `${room}: replay ends with ${String(code)}\n${output}`;
}

/** Encodes, decodes and replays a room's recording: the replay gives the recorded hashes and the room's state. */
import type { Room } from "../../server/rooms/room.ts";
import type { Program } from "./load.ts";
import { type State, Violation } from "./serviceModel.ts";
import { World } from "./physics.ts";

export function judgeRecording(program: Program, room: Room, tip: State): void {
  const recording = program.decodeRecording(program.encodeRecording(room.record()));
  const wrong = (message: string): never => {
    throw new Violation("a recording replays to the same states", `${room.name}: ${message}`);
  };
  const [first] = recording.states;
  const world = new World(room.scene);
  const state = program.unpack(first!);
  if (state) world.load(state);
  const records = new Map(recording.records.map((record) => [record.tick, record]));
  const hashes = new Map([...recording.hashes, ...recording.states].map(({ tick, stateHash }) => [tick, stateHash]));
  while (world.tick < recording.until) {
    const record = records.get(world.tick + 1);
    if (record?.fresh) world.hasList = false;
    world.step(record?.inputs ?? []);
    const known = hashes.get(world.tick);
    if (known !== undefined && known !== world.hash)
      wrong(`tick ${world.tick} gives ${world.hash}, but ${known} was recorded`);
  }
  let line: State | null = tip;
  while (line !== null && line.tick > world.tick) line = line.before;
  if (line?.tick === world.tick && line.hash !== world.hash)
    wrong(`it ends in ${world.hash} at tick ${world.tick}, but the room had ${line.hash} there`);
}

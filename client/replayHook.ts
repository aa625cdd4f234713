/**
 * `window.pliantReplay` on the replay page: read-only access to its state, for end-to-end tests and debugging, as
 * debugHook.ts on the room page. Nothing in the page reads it.
 *
 *     pliantReplay.room, .head        room and head of the replay; `head` is undefined before the stream begins
 *     pliantReplay.first, .last       first and last tick received so far
 *     pliantReplay.whole              true if the stream is complete
 *     pliantReplay.tick, .shown       tick of the playhead; tick that is drawn
 *     pliantReplay.playing, .speed
 *     pliantReplay.ints()             grid coordinates of the last frame at or before `shown`
 *     pliantReplay.displayed()        float32 positions drawn now, m
 *     pliantReplay.grabs()            grabs as drawn
 *     pliantReplay.absent            indices of the spawnable bodies that are not drawn
 *     pliantReplay.drawn              pictures drawn so far
 */
import type { ReplayBuffer } from "./state/replayBuffer.ts";
import type { Playhead } from "./state/playhead.ts";
import type { Projector } from "./ui/replay/projector.ts";

export interface ReplaySources {
  room: string;
  replay: () => ReplayBuffer | undefined;
  playhead: () => Playhead | undefined;
  projector: () => Projector | undefined;
  whole: () => boolean;
}

function createHook({ room, replay, playhead, projector, whole }: ReplaySources) {
  return Object.freeze({
    room,
    get head() {
      return replay()?.head;
    },
    get first() {
      return replay()?.first ?? Number.NaN;
    },
    get last() {
      return replay()?.last ?? Number.NaN;
    },
    get whole() {
      return whole();
    },
    get tick() {
      return playhead()?.tick ?? Number.NaN;
    },
    get shown() {
      return projector()?.shown ?? Number.NaN;
    },
    get playing() {
      return playhead()?.playing ?? false;
    },
    get speed() {
      return playhead()?.speed ?? 1;
    },
    get absent() {
      return [...(replay()?.hidden ?? [])].flatMap((hidden, body) => (hidden ? [body] : []));
    },
    get drawn() {
      return projector()?.view.drawn ?? 0;
    },
    ints: () => [...(replay()?.ints ?? [])],
    displayed: () => [...(replay()?.displayed ?? [])],
    grabs: () => projector()?.grabs() ?? [],
  });
}

export type ReplayHook = ReturnType<typeof createHook>;

export function installReplayHook(sources: ReplaySources): void {
  Object.defineProperty(window, "pliantReplay", { value: createHook(sources) });
}

/**
 * The replay page (`/r/<room>/replay`, `?seconds=` up to 120): fetches the room's replay, and plays what has come of
 * it.
 */
import { ApiError, fetchRecording, fetchTopology } from "../net/api.ts";
import { fetchReplay } from "../net/replayStream.ts";
import { forgetToken, tokenFor } from "../net/tokens.ts";
import { installReplayHook } from "../replayHook.ts";
import { ReplayBuffer } from "../state/replayBuffer.ts";
import { Playhead } from "../state/playhead.ts";
import type { ServerEvent } from "../../shared/protocol/fromServer.ts";
import type { ReplayHead } from "../../shared/protocol/protocol.ts";
import { probeGraphics } from "../view/graphicsProbe.ts";
import { messageOf, messagePage } from "./messagePage.ts";
import type { Projector } from "./projector.ts";
import { saveFile } from "./saveFile.ts";
import { ReplayShell } from "./replayShell.ts";
import { problemText } from "../text/problem.ts";
import { t } from "../text/text.ts";

const SECONDS = 60;
const MOST_SECONDS = 120;
/** Arrow keys go this far, s; with shift, one frame. */
const LEAP_SECONDS = 1;

export function openReplayPage(app: HTMLElement, room: string): void {
  const probe = probeGraphics();
  if (!probe.webgl2) return app.replaceChildren(messagePage(...messageOf("noWebGl")));
  const wanted = Math.round(Number(new URLSearchParams(location.search).get("seconds") ?? SECONDS));
  const seconds = wanted >= 1 && wanted <= MOST_SECONDS ? wanted : SECONDS;
  const ended = new AbortController();
  let replay: ReplayBuffer | undefined;
  let playhead: Playhead | undefined;
  let projector: Projector | undefined;
  let whole = false;
  /** What came before the topology. */
  let early: ServerEvent[] = [];

  const shell = new ReplayShell(room, {
    toggle: () => toggle(),
    seek: (tick) => seek(tick),
    speed: (speed) => {
      if (playhead) playhead.speed = speed;
    },
    home: () => projector?.goHome(),
    download: () =>
      void fetchRecording(room).then(
        (recording) => saveFile(`${room}.pliant`, recording),
        (error: unknown) => shell.toasts.show(problemText(error)),
      ),
  });
  app.replaceChildren(shell.element);
  const drawing = import("./projector.ts");
  listenToKeys();
  installReplayHook({
    room,
    replay: () => replay,
    playhead: () => playhead,
    projector: () => projector,
    whole: () => whole,
  });
  addEventListener("pagehide", (event) => {
    if (!event.persisted) ended.abort();
  });
  void load(true);

  async function load(again: boolean): Promise<void> {
    let begun: Promise<void> | undefined;
    try {
      await fetchReplay(
        room,
        seconds,
        {
          onBusy: () => shell.setLoading(t("replayWaits")),
          onHead: (head) => (begun = begin(head)),
          onEvent: (event) => {
            if (replay) replay.add(event);
            else early.push(event);
          },
        },
        ended.signal,
      );
      await begun;
      whole = true;
      if (replay && Number.isNaN(replay.first)) shell.setLoading(t("replayEmpty"));
    } catch (error) {
      if (!ended.signal.aborted) await failed(error, again);
    }
  }

  async function begin(head: ReplayHead): Promise<void> {
    shell.setLoading(t("steppingAgain"));
    shell.setRange(head.from, head.until, head.tickHz);
    const [topology, { Projector }] = await Promise.all([fetchTopology(head.topology), drawing]);
    shell.setTitle(topology.title);
    replay = new ReplayBuffer(head, topology);
    for (const event of early) replay.add(event);
    early = [];
    playhead = new Playhead(head.tickHz);
    projector = new Projector({
      canvas: shell.canvas,
      cursors: shell.cursors,
      replay,
      playhead,
      probe,
      onShown: shown,
    });
  }

  /** @param again a token that has ended is no reason not to ask as anybody */
  async function failed(error: unknown, again: boolean): Promise<void> {
    if (again && error instanceof ApiError && error.status === 401 && tokenFor(room) !== undefined) {
      forgetToken(room);
      return load(false);
    }
    if (projector && replay && !Number.isNaN(replay.first))
      return shell.toasts.show(t("replayBroken", { error: problemText(error) }));
    projector?.dispose();
    const [title, text] =
      error instanceof ApiError && error.status === 404
        ? messageOf("roomGone")
        : [t("noReplayTitle"), problemText(error)];
    app.replaceChildren(messagePage(title, text));
  }

  function shown(tick: number): void {
    if (!replay || !playhead || Number.isNaN(tick)) return;
    shell.setLoading(undefined);
    shell.setLoaded(whole ? replay.head.until : replay.last);
    shell.setTick(playhead.tick);
    shell.setPlaying(playhead.playing);
  }

  function toggle(): void {
    if (replay) playhead?.toggle(replay.first, replay.head.until);
  }

  function seek(tick: number): void {
    if (!replay || !playhead || Number.isNaN(replay.first)) return;
    playhead.seek(tick, replay.first, replay.head.until);
  }

  function listenToKeys(): void {
    // Before the slider, which has an idea of its own of arrow keys.
    addEventListener(
      "keydown",
      (event) => {
        const target = event.target as HTMLElement;
        if (event.ctrlKey || event.metaKey || event.altKey || !replay || !playhead || target.closest("select")) return;
        // The space bar presses the button that has the focus.
        if (event.key === " " && target.closest("button, a")) return;
        const { tickHz, sendHz, until } = replay.head;
        const leap = event.shiftKey ? tickHz / sendHz : LEAP_SECONDS * tickHz;
        const act = (
          {
            " ": toggle,
            ArrowLeft: () => seek(playhead!.tick - leap),
            ArrowRight: () => seek(playhead!.tick + leap),
            Home: () => seek(replay!.first),
            End: () => seek(until),
            h: () => projector?.goHome(),
          } as Record<string, () => void>
        )[event.key];
        if (!act) return;
        event.preventDefault();
        event.stopPropagation();
        act();
      },
      { capture: true },
    );
  }
}

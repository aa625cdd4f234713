/**
 * The replay page (`/r/<room>/replay`, `?seconds=` up to 120): fetches the room's replay stream, and plays the part
 * that has arrived.
 */
import { ApiError, fetchRecording, fetchTopology } from "../../net/api.ts";
import { fetchReplay } from "../../net/replayStream.ts";
import { forgetToken, tokenFor } from "../../net/tokens.ts";
import { installReplayHook } from "../../replayHook.ts";
import { decoderReady } from "../../../shared/snapshot/decode.ts";
import { ReplayBuffer } from "../../state/replayBuffer.ts";
import { Playhead } from "../../state/playhead.ts";
import type { ServerEvent } from "../../../shared/protocol/fromServer.ts";
import type { ReplayHead } from "../../../shared/protocol/protocol.ts";
import { type GraphicsProbe, probeGraphics } from "../../view/stage/graphicsProbe.ts";
import { messageOf, messagePage } from "../messagePage.ts";
import type { Projector } from "./projector.ts";
import { saveFile } from "../saveFile.ts";
import { ReplayShell } from "./replayShell.ts";
import { problemText } from "../../text/problem.ts";
import { t } from "../../text/text.ts";

const SECONDS = 60;
const MOST_SECONDS = 120;
/** Step of the arrow keys, s; with shift, one frame. */
const LEAP_SECONDS = 1;

export function openReplayPage(app: HTMLElement, room: string): void {
  const probe = probeGraphics();
  if (!probe.webgl2) return app.replaceChildren(messagePage(...messageOf("noWebGl")));
  const wanted = Math.round(Number(new URLSearchParams(location.search).get("seconds") ?? SECONDS));
  const page = new ReplayPage(app, room, probe);
  void page.load(wanted >= 1 && wanted <= MOST_SECONDS ? wanted : SECONDS, true);
}

class ReplayPage {
  private readonly app: HTMLElement;
  private readonly room: string;
  private readonly probe: GraphicsProbe;
  private readonly shell: ReplayShell;
  private readonly drawing = import("./projector.ts");
  private readonly ended = new AbortController();
  private replay: ReplayBuffer | undefined;
  private playhead: Playhead | undefined;
  private projector: Projector | undefined;
  private whole = false;
  /** Events that arrived before the topology. */
  private early: ServerEvent[] = [];

  constructor(app: HTMLElement, room: string, probe: GraphicsProbe) {
    this.app = app;
    this.room = room;
    this.probe = probe;
    this.shell = new ReplayShell(room, {
      toggle: () => this.toggle(),
      seek: (tick) => this.seek(tick),
      speed: (speed) => {
        if (this.playhead) this.playhead.speed = speed;
      },
      home: () => this.projector?.goHome(),
      capture: () =>
        this.projector && {
          canvas: this.shell.canvas,
          ring: this.projector.ring,
          draw: () => this.projector?.view.stage.draw(),
        },
      download: () =>
        void fetchRecording(room).then(
          (recording) => saveFile(`${room}.pliant`, recording),
          (error: unknown) => this.shell.toasts.show(problemText(error)),
        ),
    });
    app.replaceChildren(this.shell.element);
    // Capture phase: otherwise the slider handles the arrow keys itself.
    addEventListener("keydown", (event) => this.press(event), { capture: true });
    installReplayHook({
      room,
      replay: () => this.replay,
      playhead: () => this.playhead,
      projector: () => this.projector,
      whole: () => this.whole,
    });
    addEventListener("pagehide", (event) => {
      if (!event.persisted) this.ended.abort();
    });
  }

  /** @param again retry without the token if the server rejects it as expired */
  async load(seconds: number, again: boolean): Promise<void> {
    const { room, shell, ended } = this;
    let begun: Promise<void> | undefined;
    const onEvent = (event: ServerEvent): void => {
      if (this.replay) this.replay.add(event);
      else this.early.push(event);
    };
    try {
      const onBusy = (): void => shell.setLoading(t("replayWaits"));
      const onHead = (head: ReplayHead): void => void (begun = this.begin(head));
      await fetchReplay(room, seconds, { onBusy, onHead, onEvent }, ended.signal);
      await begun;
      this.whole = true;
      if (this.replay && Number.isNaN(this.replay.first)) shell.setLoading(t("replayEmpty"));
    } catch (error) {
      if (ended.signal.aborted) return;
      if (!again || !(error instanceof ApiError) || error.status !== 401 || tokenFor(room) === undefined)
        return this.failed(error);
      forgetToken(room);
      await this.load(seconds, false);
    }
  }

  private async begin(head: ReplayHead): Promise<void> {
    const { shell } = this;
    shell.setLoading(t("steppingAgain"));
    shell.setRange(head.from, head.until, head.tickHz);
    const [topology, { Projector }] = await Promise.all([fetchTopology(head.topology), this.drawing, decoderReady]);
    shell.setTitle(topology.title);
    const replay = (this.replay = new ReplayBuffer(head, topology));
    for (const event of this.early) replay.add(event);
    this.early = [];
    const playhead = (this.playhead = new Playhead(head.tickHz));
    const { canvas, cursors } = shell;
    const onShown = (tick: number): void => this.shown(tick);
    this.projector = new Projector({ canvas, cursors, replay, playhead, probe: this.probe, onShown });
  }

  private failed(error: unknown): void {
    if (this.projector && this.replay && !Number.isNaN(this.replay.first))
      return this.shell.toasts.show(t("replayBroken", { error: problemText(error) }));
    this.projector?.dispose();
    const [title, text] =
      error instanceof ApiError && error.status === 404
        ? messageOf("roomGone")
        : [t("noReplayTitle"), problemText(error)];
    this.app.replaceChildren(messagePage(title, text));
  }

  private shown(tick: number): void {
    const { replay, playhead, shell } = this;
    if (!replay || !playhead || Number.isNaN(tick)) return;
    shell.setLoading(undefined);
    shell.setLoaded(this.whole ? replay.head.until : replay.last);
    shell.setTick(playhead.tick);
    shell.setPlaying(playhead.playing);
  }

  private toggle(): void {
    if (this.replay) this.playhead?.toggle(this.replay.first, this.replay.head.until);
  }

  private seek(tick: number): void {
    if (!this.replay || Number.isNaN(this.replay.first)) return;
    this.playhead?.seek(tick, this.replay.first, this.replay.head.until);
  }

  private press(event: KeyboardEvent): void {
    const { replay, playhead } = this;
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || !replay || !playhead || target.closest("select")) return;
    // The space bar presses the focused button.
    if (event.key === " " && target.closest("button, a")) return;
    const { tickHz, sendHz, until } = replay.head;
    const leap = event.shiftKey ? tickHz / sendHz : LEAP_SECONDS * tickHz;
    const acts: Record<string, () => void> = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.seek(playhead.tick - leap),
      ArrowRight: () => this.seek(playhead.tick + leap),
      Home: () => this.seek(replay.first),
      End: () => this.seek(until),
      h: () => this.projector?.goHome(),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }
}

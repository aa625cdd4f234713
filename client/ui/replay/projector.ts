/** The part of the replay page that needs three.js: draws the moments of the replay, with grabs. */
import { MEMBER_COLORS } from "../../../shared/members/memberColors.ts";
import type { Playhead } from "../../state/playhead.ts";
import type { ReplayBuffer } from "../../state/replayBuffer.ts";
import { type DrawnCursor, type DrawnGrab, drawnGrabs } from "../../view/grabs/cursorsView.ts";
import type { GraphicsProbe } from "../../view/stage/graphicsProbe.ts";
import { RoomView } from "../../view/roomView.ts";
import type { CursorLayer } from "../room/layers/cursorLayer.ts";
import { FrameRing } from "../../capture/frameRing.ts";
import { freeArea } from "../room/layers/freeArea.ts";
import { t } from "../../text/text.ts";

export interface ProjectorOptions {
  canvas: HTMLCanvasElement;
  cursors: CursorLayer;
  replay: ReplayBuffer;
  playhead: Playhead;
  probe: GraphicsProbe;
  /** Called after each moment that was drawn. @param tick NaN: no frame has arrived yet */
  onShown: (tick: number) => void;
}

export class Projector {
  readonly view: RoomView;
  /** Pictures of the last seconds. */
  readonly ring = new FrameRing();
  /** Tick that is shown; NaN before the first picture. */
  shown = Number.NaN;
  private readonly options: ProjectorOptions;
  private running = true;
  private lastMs = performance.now();

  constructor(options: ProjectorOptions) {
    this.options = options;
    const { canvas, cursors, replay, probe } = options;
    this.view = new RoomView(canvas, replay.topology, replay.displayed, probe);
    this.view.showCursors = cursors.show.bind(cursors);
    this.view.freeArea = () => freeArea(canvas.parentElement!);
    const loop = (nowMs: number): void => {
      if (!this.running) return;
      requestAnimationFrame(loop);
      this.frame(nowMs);
    };
    requestAnimationFrame(loop);
  }

  goHome(): void {
    this.view.home();
  }

  dispose(): void {
    this.running = false;
    for (const body of this.view.bodies) body.dispose();
    this.view.stage.renderer.dispose();
  }

  /** Grabs as drawn. Colors follow the member's number, because a replay contains no names. */
  grabs(): DrawnGrab[] {
    return drawnGrabs([...this.options.replay.handsAt(this.shown).values()], colorOf);
  }

  private cursors(): DrawnCursor[] {
    return [...this.options.replay.handsAt(this.shown).values()].flatMap(({ member, grabs }) => {
      const at = grabs.at(-1)?.target;
      return at ? [{ member, name: t("memberNumber", { number: member }), color: colorOf(member), at }] : [];
    });
  }

  private frame(nowMs: number): void {
    const { replay, playhead, onShown } = this.options;
    const before = this.shown;
    playhead.advance(nowMs, replay.first, replay.last, replay.head.until);
    this.shown = replay.show(playhead.tick);
    const drew = this.view.frame({
      nowMs,
      elapsedMs: Math.min(250, nowMs - this.lastMs),
      moved: this.shown !== before,
      seconds: this.shown / replay.head.tickHz,
      yields: replay.yields.at(this.shown),
      hasFrame: !Number.isNaN(this.shown),
      hidden: replay.hidden,
      grabs: this.grabs(),
      cursors: this.cursors(),
      bends: [],
    });
    if (drew) this.ring.take(this.options.canvas, nowMs);
    this.lastMs = nowMs;
    onShown(this.shown);
  }
}

function colorOf(member: number): string {
  return MEMBER_COLORS[(Math.max(1, member) - 1) % MEMBER_COLORS.length]!;
}

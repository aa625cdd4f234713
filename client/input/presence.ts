/**
 * Sends this member's cursor to the other members: at most ten times a second, only after a move, and once when the
 * mouse leaves the canvas.
 */
import { build } from "../../shared/protocol/fromClient.ts";
import type { Point } from "../../shared/protocol/fromServer.ts";
import type { RoomView } from "../view/roomView.ts";

const INTERVAL_MS = 100;

export class Presence {
  private readonly view: RoomView;
  private readonly send: (bytes: Uint8Array) => void;
  private at: { x: number; y: number } | undefined;
  private changed = false;
  private sentMs = 0;

  constructor(view: RoomView, send: (bytes: Uint8Array) => void) {
    this.view = view;
    this.send = send;
  }

  hover(at: { x: number; y: number } | undefined): void {
    this.at = at;
    this.changed = true;
  }

  /** Called once per animation frame. @param holding true during a grab, whose target then shows where the member is */
  update(nowMs: number, holding: boolean): void {
    if (!this.changed || holding || nowMs - this.sentMs < INTERVAL_MS) return;
    this.changed = false;
    this.sentMs = nowMs;
    this.send(build.cursor(this.at ? (this.view.pointAt(this.at.x, this.at.y).toArray() as Point) : undefined));
  }
}

/** Thread entry of pictures.ts: draws a room or a scene as a PNG. */
import { decode } from "@msgpack/msgpack";
import type { Topology } from "../../shared/topology.ts";
import type { Painted, PaintTask } from "./pictures.ts";
import { encodePng } from "./png.ts";
import { type Moment, ScenePainter } from "./scenePainter.ts";

/** Number of scenes kept ready, most recently drawn: preparing a detail mesh takes about 50 ms. */
const KEPT = 8;
const kept = new Map<string, { topology: Topology; painter: ScenePainter }>();

export function paint({ hash, topology, moment, width, height }: PaintTask): Painted {
  const before = process.threadCpuUsage();
  const scene = prepared(hash, topology);
  const shown = moment ? { ...moment, positions: metres(scene.topology, moment.points) } : scene.painter.start;
  const bytes = encodePng(scene.painter.paint(shown satisfies Moment, width, height), width, height);
  const { user, system } = process.threadCpuUsage(before);
  return { bytes, workMs: (user + system) / 1000 };
}

function prepared(hash: string, bytes: SharedArrayBuffer): { topology: Topology; painter: ScenePainter } {
  const known = kept.get(hash);
  kept.delete(hash);
  const topology = known?.topology ?? (decode(new Uint8Array(bytes).slice()) as Topology);
  const scene = known ?? { topology, painter: new ScenePainter(topology) };
  kept.set(hash, scene);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
  return scene;
}

/** Converts grid units to m; float positions are in m already. */
function metres({ bodies }: Topology, points: Int32Array | Float32Array): Float32Array {
  if (points instanceof Float32Array) return points;
  const out = new Float32Array(points.length);
  for (const { first, count, quantum } of bodies)
    for (let i = 3 * first; i < 3 * (first + count); i++) out[i] = quantum * points[i]!;
  return out;
}

/**
 * The scenes of the scenes folder and their templates. A template is built once per content of its scene file and kept;
 * opening a room only copies it. The folder is read anew for every listing, so a scene dropped into it is there without
 * a restart.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyBaseLogger } from "fastify";
import { CodedError } from "../../shared/errors.ts";
import type { Scene } from "../../shared/scene.ts";
import { validateScene } from "../../shared/sceneValidator.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { WorldLayout } from "../sim/types.ts";
import type { RoomShape } from "../workers/messages.ts";
import type { WorkerPools } from "../workers/pool.ts";

export interface SceneSummary {
  id: string;
  title: string;
  description: string;
  bodies: number;
  /** Path of a picture, if there is one. */
  thumbnail?: string;
  /** Path of the section of the physics report that measures what the scene shows. */
  report?: string;
}

/** A built scene: everything that its rooms share. */
export interface SceneTemplate {
  scene: string;
  /** The scene's file, as it was built. */
  text: string;
  memory: WebAssembly.Memory;
  layout: WorldLayout;
  topology: SharedArrayBuffer;
  topologyHash: string;
  /** What can go on from a state of it; see workers/identity.ts. */
  identity: string;
  shape: RoomShape;
}

/** A topology as it goes over HTTP; the compressed forms appear a moment after the build. */
export interface TopologyDocument {
  raw: Buffer;
  gzip: Buffer | null;
  brotli: Buffer | null;
}

export interface SceneLibraryOptions {
  scenesDir: string;
  clientDir: string;
  pools: WorkerPools;
  metrics: Metrics;
  log: FastifyBaseLogger;
}

const SCENE_ID = /^[a-z0-9][a-z0-9-]{0,39}$/;
/** Longest scene file that is read, bytes: meshes live in files of their own. The same as in sim/readScene.ts. */
const MAX_SCENE_BYTES = 4 * 1024 * 1024;
const PICTURES = ["webp", "png", "jpg", "svg"];

export class SceneLibrary {
  readonly #options: SceneLibraryOptions;
  /** By scene id; the hash tells whether the file is still the one that was built. */
  readonly #templates = new Map<string, { fileHash: string; template: Promise<SceneTemplate> }>();
  readonly #topologies = new Map<string, TopologyDocument>();

  constructor(options: SceneLibraryOptions) {
    this.#options = options;
  }

  /** All scenes that can be read, by id. One that cannot is logged and left out. */
  async list(): Promise<SceneSummary[]> {
    const { scenesDir, log } = this.#options;
    const files = (await readdir(scenesDir)).filter((file) => file.endsWith(".json") && file !== "schema.json").sort();
    const scenes: SceneSummary[] = [];
    for (const file of files) {
      try {
        const { scene } = await this.read(file.slice(0, -".json".length));
        scenes.push(this.#summary(file.slice(0, -".json".length), scene));
      } catch (error) {
        log.warn({ file, err: error }, "scene left out");
      }
    }
    return scenes;
  }

  /** @throws CodedError SCENE_NOT_FOUND, SCENE_INVALID */
  async summary(id: string): Promise<SceneSummary & { scene: Scene }> {
    const { scene } = await this.read(id);
    return { ...this.#summary(id, scene), scene };
  }

  /**
   * The scene's template, built if this content has not been built yet.
   * @throws CodedError SCENE_NOT_FOUND, SCENE_INVALID, BUILD_FAILED
   */
  async template(id: string): Promise<SceneTemplate> {
    const { text } = await this.read(id);
    const fileHash = createHash("sha256").update(text).digest("hex");
    const known = this.#templates.get(id);
    if (known?.fileHash === fileHash) return known.template;
    const template = this.#build(id, text);
    this.#templates.set(id, { fileHash, template });
    // A failed build may succeed later (a mesh file that was missing); do not remember it.
    template.catch(() => {
      if (this.#templates.get(id)?.template === template) this.#templates.delete(id);
    });
    return template;
  }

  /**
   * Builds those of the scenes that this process has not built yet: a room of one of them is stepped elsewhere, and its
   * visitors ask here. Never rejects.
   */
  async buildMissing(scenes: Iterable<string>): Promise<void> {
    // It is in the log; whoever wanted it gets a 404.
    for (const scene of new Set(scenes)) if (!this.#templates.has(scene)) await this.template(scene).catch(() => {});
  }

  topology(hash: string): TopologyDocument | undefined {
    return this.#topologies.get(hash);
  }

  /** @throws CodedError SCENE_NOT_FOUND, SCENE_INVALID */
  async read(id: string): Promise<{ scene: Scene; text: string }> {
    if (!SCENE_ID.test(id) || id === "schema") throw new CodedError("SCENE_NOT_FOUND", { field: "scene", value: id });
    let text: string;
    let size: number;
    try {
      ({ size } = await stat(this.#path(id)));
      text = size <= MAX_SCENE_BYTES ? await readFile(this.#path(id), "utf8") : "";
    } catch {
      throw new CodedError("SCENE_NOT_FOUND", { field: "scene", value: id });
    }
    if (size > MAX_SCENE_BYTES)
      throw new CodedError("SCENE_INVALID", {
        field: "scene",
        value: `${size} bytes`,
        limit: `at most ${MAX_SCENE_BYTES} bytes`,
      });
    try {
      return { scene: validateScene(JSON.parse(text)), text };
    } catch (error) {
      throw new CodedError("SCENE_INVALID", { field: "scene", value: id }, `Scene ${id}: ${(error as Error).message}`);
    }
  }

  #path(id: string): string {
    return join(this.#options.scenesDir, `${id}.json`);
  }

  #summary(id: string, scene: Scene): SceneSummary {
    const picture = PICTURES.find((type) => existsSync(join(this.#options.clientDir, "thumbnails", `${id}.${type}`)));
    return {
      id,
      title: scene.title,
      description: scene.description ?? "",
      bodies: scene.bodies.length,
      ...(picture ? { thumbnail: `/thumbnails/${id}.${picture}` } : {}),
      ...(scene.report !== undefined ? { report: `/report#${scene.report}` } : {}),
    };
  }

  async #build(id: string, text: string): Promise<SceneTemplate> {
    const { pools, metrics, log } = this.#options;
    try {
      const built = await pools.build({ scenePath: this.#path(id) });
      metrics.buildSeconds.observe(built.seconds);
      log.info(
        { scene: id, seconds: built.seconds, topology: built.topologyHash, particles: built.layout.streamedParticles },
        "scene built",
      );
      this.#publishTopology(built.topologyHash, built.topology);
      const { template: memory, layout, topology, topologyHash, identity, shape } = built;
      return { scene: id, text, memory, layout, topology, topologyHash, identity, shape };
    } catch (error) {
      log.error({ scene: id, err: error }, "scene could not be built");
      const reason = error instanceof Error ? error.message : String(error);
      throw new CodedError("BUILD_FAILED", { field: "scene", value: id }, `Scene ${id} could not be built: ${reason}`);
    }
  }

  #publishTopology(hash: string, topology: SharedArrayBuffer): void {
    if (this.#topologies.has(hash)) return;
    const document: TopologyDocument = { raw: Buffer.from(topology), gzip: null, brotli: null };
    this.#topologies.set(hash, document);
    const onCompressed = (form: "gzip" | "brotli") => (bytes: Buffer) => {
      document[form] = bytes;
    };
    // zlib's own threads do this; quality 5 takes a tenth of the time of the default 11 and costs a few percent of
    // size.
    promisify(gzip)(document.raw).then(onCompressed("gzip"), () => {});
    promisify(brotliCompress)(document.raw, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }).then(
      onCompressed("brotli"),
      () => {},
    );
  }
}

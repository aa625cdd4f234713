/**
 * A small picture of a model before it becomes a body; a pointer turns it. It is drawn only after a change: continuous
 * rotation used a whole core on machines without a graphics card.
 */
import {
  ACESFilmicToneMapping,
  Box3,
  DirectionalLight,
  HemisphereLight,
  type Mesh,
  Object3D,
  PerspectiveCamera,
  Scene,
  Sphere,
  WebGLRenderer,
} from "three";
import { loadPicture } from "./loadPicture.ts";
import { disposeMaterial } from "./uploadedPicture.ts";

const MOST_PIXELS = 2;
/** Initial rotation, and rotation over the width of the canvas, rad. */
const TURN = { first: 0.5, across: 2 * Math.PI };

export class ObjectPreview {
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(35, 4 / 3, 0.01, 100);
  private shown = new Object3D();
  private parts: Mesh[] = [];

  constructor(canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, alpha: true, antialias: true });
    this.renderer.toneMapping = ACESFilmicToneMapping;
    this.renderer.setPixelRatio(Math.min(MOST_PIXELS, devicePixelRatio));
    const sun = new DirectionalLight("#ffffff", 2.5);
    sun.position.set(1, 2, 2);
    this.scene.add(new HemisphereLight("#ffffff", "#c8b8a8", 1.5), sun);
    canvas.addEventListener("pointermove", ({ offsetX }) => {
      this.draw(TURN.first + TURN.across * (offsetX / canvas.clientWidth - 0.5));
    });
  }

  /** @param url of a GLB. @throws Error if it cannot be loaded */
  async show(url: string): Promise<void> {
    const parts = await loadPicture(url);
    this.clear();
    this.parts = parts;
    this.shown.add(...parts);
    this.scene.add(this.shown);
    const { center, radius } = new Box3().setFromObject(this.shown).getBoundingSphere(new Sphere());
    for (const part of parts) part.position.sub(center);
    this.shown.scale.setScalar(1 / radius);
    this.camera.position.set(0, 0.9, 3.4);
    this.camera.lookAt(0, 0, 0);
    this.draw(TURN.first);
  }

  private draw(turn: number): void {
    const { clientWidth, clientHeight } = this.renderer.domElement;
    if (clientWidth === 0) return;
    this.renderer.setSize(clientWidth, clientHeight, false);
    this.camera.aspect = clientWidth / clientHeight;
    this.camera.updateProjectionMatrix();
    this.shown.rotation.y = turn;
    this.renderer.render(this.scene, this.camera);
  }

  private clear(): void {
    this.scene.remove(this.shown);
    for (const { geometry, material } of this.parts) {
      geometry.dispose();
      for (const one of [material].flat()) disposeMaterial(one);
    }
    this.parts = [];
    this.shown = new Object3D();
  }

  dispose(): void {
    this.clear();
    this.renderer.dispose();
  }
}

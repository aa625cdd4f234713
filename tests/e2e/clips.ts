/** Looks at saved clips in a real browser: their size, and the share of pixels that change. */
import type { Page } from "playwright-core";

export interface Clip {
  width: number;
  height: number;
  /** Largest share of pixels that differ from the first picture. */
  motion: number;
}

/** Decodes a GIF or a WebM. @param page any page; a blank one of its browser context plays the clip */
export async function look(page: Page, bytes: Buffer, type: "image/gif" | "video/webm"): Promise<Clip> {
  const blank = await page.context().newPage();
  try {
    // A secure address without the pages' policy, which plays no videos. Nothing is fetched.
    await blank.route("**/*", (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html>" }));
    await blank.goto("http://localhost/clip");
    return await blank.evaluate(
      async ({ base64, type }) => {
        const data = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
        const screen = document.createElement("canvas").getContext("2d", { willReadFrequently: true })!;
        let first: Uint8ClampedArray | undefined;
        let motion = 0;
        const compare = (picture: CanvasImageSource, width: number, height: number): void => {
          Object.assign(screen.canvas, { width, height });
          screen.drawImage(picture, 0, 0);
          const pixels = screen.getImageData(0, 0, width, height).data;
          first ??= pixels;
          let changed = 0;
          for (let i = 0; i < pixels.length; i += 4) if (Math.abs(pixels[i]! - first[i]!) > 40) changed++;
          motion = Math.max(motion, (4 * changed) / pixels.length);
        };
        if (type === "image/gif") {
          const decoder = new ImageDecoder({ data, type });
          await Promise.all([decoder.completed, decoder.tracks.ready]);
          const { frameCount } = decoder.tracks.selectedTrack!;
          for (let frameIndex = 0; frameIndex < frameCount; frameIndex++) {
            const { image } = await decoder.decode({ frameIndex });
            compare(image, image.displayWidth, image.displayHeight);
          }
        } else {
          const video = document.createElement("video");
          video.muted = true;
          video.src = URL.createObjectURL(new Blob([data], { type }));
          const ended = new Promise((resolve, reject) => {
            video.addEventListener("ended", resolve);
            video.addEventListener("error", () => reject(new Error(video.error?.message)));
          });
          const shown = (): void => {
            compare(video, video.videoWidth, video.videoHeight);
            video.requestVideoFrameCallback(shown);
          };
          video.requestVideoFrameCallback(shown);
          await video.play();
          await ended;
          compare(video, video.videoWidth, video.videoHeight);
        }
        return { width: screen.canvas.width, height: screen.canvas.height, motion };
      },
      { base64: bytes.toString("base64"), type },
    );
  } finally {
    await blank.close();
  }
}

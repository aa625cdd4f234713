/**
 * Synthesizes contact sounds with WebAudio: partials that decay for hard bodies, a falling tone for soft ones, filtered
 * noise for cloth. A large body sounds lower, a strong impact louder and brighter.
 */

export type Timbre = "soft" | "cloth" | "hard" | "metal";

export interface Sound {
  timbre: Timbre;
  /** Size of the body, m. */
  size: number;
  /** 0 to 1 */
  loudness: number;
  /** -1 (left) to 1 (right) */
  pan: number;
}

/** Frequencies of the partials, relative to the lowest, and their time of decay, s. */
const PARTIALS: Record<Timbre, { ratios: readonly number[]; seconds: number; base: number }> = {
  soft: { ratios: [1], seconds: 0.16, base: 90 },
  cloth: { ratios: [], seconds: 0.12, base: 700 },
  hard: { ratios: [1, 2.7, 5.2], seconds: 0.09, base: 320 },
  // Free bar: squares of 3.011, 5, 7.
  metal: { ratios: [1, 2.76, 5.4, 8.93], seconds: 0.7, base: 420 },
};
/** Size for which `base` holds, m. */
const SIZE = 0.25;
/** Bounds of the lowest frequency, Hz. */
const HZ = { least: 45, most: 2400 };
/** Sounds at once; more are dropped. */
const MOST_VOICES = 12;
const VOLUME = 0.35;

/** Lowest frequency of a body, Hz. */
export function frequencyOf({ timbre, size }: Pick<Sound, "timbre" | "size">): number {
  return Math.min(HZ.most, Math.max(HZ.least, (PARTIALS[timbre].base * SIZE) / Math.max(size, 1e-3)));
}

export class Voices {
  private readonly context = new AudioContext();
  private readonly output: AudioNode;
  private readonly noise: AudioBuffer;
  private voices = 0;

  constructor() {
    const limiter = this.context.createDynamicsCompressor();
    limiter.connect(this.context.destination);
    this.output = limiter;
    const length = this.context.sampleRate;
    this.noise = this.context.createBuffer(1, length, length);
    const samples = this.noise.getChannelData(0);
    for (let i = 0; i < length; i++) samples[i] = 2 * Math.random() - 1;
  }

  /** Sounds that are playing now. */
  get playing(): number {
    return this.voices;
  }

  /** Called in the handler of a press: browsers start no sound before. */
  resume(): void {
    void this.context.resume();
  }

  dispose(): void {
    void this.context.close();
  }

  play({ timbre, size, loudness, pan }: Sound): void {
    if (this.voices >= MOST_VOICES) return;
    this.voices++;
    const { context } = this;
    const { ratios, seconds } = PARTIALS[timbre];
    const startS = context.currentTime;
    const endS = startS + seconds;
    const envelope = context.createGain();
    envelope.gain.setValueAtTime(VOLUME * loudness, startS);
    envelope.gain.exponentialRampToValueAtTime(1e-4, endS);
    const panner = context.createStereoPanner();
    panner.pan.value = Math.min(1, Math.max(-1, pan));
    envelope.connect(panner).connect(this.output);
    const lowest = frequencyOf({ timbre, size });
    const sources = [
      ...ratios.map((ratio, k) => this.partial(ratio * lowest, timbre === "soft", (0.7 * loudness) ** k, envelope)),
      ...(timbre === "cloth" || timbre === "hard" ? [this.burst(lowest, envelope)] : []),
    ];
    for (const source of sources) {
      source.start(startS);
      source.stop(endS);
    }
    sources[0]!.onended = () => {
      this.voices--;
      panner.disconnect();
    };
  }

  /** @param falls true: the tone falls by a fifth, as of a body that is squeezed and let go */
  private partial(hertz: number, falls: boolean, gain: number, into: AudioNode): AudioScheduledSourceNode {
    const { context } = this;
    const tone = context.createOscillator();
    tone.frequency.setValueAtTime(hertz, context.currentTime);
    if (falls) tone.frequency.exponentialRampToValueAtTime(hertz / 1.5, context.currentTime + PARTIALS.soft.seconds);
    const part = context.createGain();
    part.gain.value = gain;
    tone.connect(part).connect(into);
    return tone;
  }

  private burst(hertz: number, into: AudioNode): AudioScheduledSourceNode {
    const source = this.context.createBufferSource();
    source.buffer = this.noise;
    source.loop = true;
    const filter = this.context.createBiquadFilter();
    filter.type = "bandpass";
    filter.frequency.value = hertz;
    source.connect(filter).connect(into);
    return source;
  }
}

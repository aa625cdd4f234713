/**
 * Book-keeping of the response to contacts that were not cleared: which particles it has moved in this substep, which of them in this round, and which
 * pairs each of them is in. The last is made when it is first asked for after a new list: most lists never need it.
 */
import {
  HEADER, H_X, H_PARTICLES, H_TOUCHES, H_TOUCH_COUNT, H_CHANGED, H_CHANGED_FROM, H_MARKS, H_INCIDENT, H_INCIDENCES, H_INCIDENT_VALID, TOUCH_KEEP, TOUCH_BYTES, MARK_CHANGED, MARK_ROUND, MARK_LAGS,
} from "./layout";

/** Particles moved in this substep, and in this round. */
export let changedCount = 0, roundCount = 0;

@inline export function numberOf(particle: usize): i32 { return <i32>((particle - <usize>load<u32>(HEADER, H_X)) >> 4); }
@inline export function particleAt(number: i32): usize { return <usize>load<u32>(HEADER, H_X) + (<usize>number << 4); }
@inline export function markAt(number: i32): usize { return <usize>load<u32>(HEADER, H_MARKS) + <usize>number; }

/** Address of the n-th particle of this substep. */
export function changedParticle(n: i32): usize { return <usize>load<u32>(<usize>load<u32>(HEADER, H_CHANGED) + (<usize>n << 2)); }
/** Where it was before the response, f32x4. */
export function changedFrom(n: i32): usize { return <usize>load<u32>(HEADER, H_CHANGED_FROM) + (<usize>n << 4); }
/** Address of the n-th particle of this round. */
export function roundParticle(n: i32): usize { return <usize>load<u32>(<usize>load<u32>(HEADER, H_CHANGED) + (<usize>(load<i32>(HEADER, H_PARTICLES) + n) << 2)); }

/** Has to be called before a particle is moved: notes it once a substep and once a round. */
export function change(particle: usize): void {
  const at = markAt(numberOf(particle)), marks = load<u8>(at), list = <usize>load<u32>(HEADER, H_CHANGED);
  if (!(marks & MARK_CHANGED)) {
    v128.store(<usize>load<u32>(HEADER, H_CHANGED_FROM) + (<usize>changedCount << 4), v128.load(particle));
    store<u32>(list + (<usize>changedCount << 2), <u32>particle);
    changedCount++;
  }
  if (!(marks & MARK_ROUND)) {
    store<u32>(list + (<usize>(load<i32>(HEADER, H_PARTICLES) + roundCount) << 2), <u32>particle);
    roundCount++;
  }
  store<u8>(at, <u8>(marks | MARK_CHANGED | MARK_ROUND | (load<f32>(particle, 12) == 0 ? MARK_LAGS : 0)));
}

export function endRound(): void {
  for (let n = 0; n < roundCount; n++) {
    const at = markAt(numberOf(roundParticle(n)));
    store<u8>(at, <u8>(load<u8>(at) & ~MARK_ROUND));
  }
  roundCount = 0;
}

export function endChanges(): void {
  endRound();
  for (let n = 0; n < changedCount; n++) {
    const at = markAt(numberOf(changedParticle(n)));
    store<u8>(at, <u8>(load<u8>(at) & ~MARK_CHANGED));
  }
  changedCount = 0;
}

/** Run of a particle's pairs: numbers at incidence(n), n from firstIncidence to endIncidence. */
export function firstIncidence(particle: usize): i32 { return load<i32>(<usize>load<u32>(HEADER, H_INCIDENT) + (<usize>numberOf(particle) << 2)); }
export function endIncidence(particle: usize): i32 { return load<i32>(<usize>load<u32>(HEADER, H_INCIDENT) + (<usize>numberOf(particle) << 2), 4); }
export function incidence(n: i32): i32 { return load<i32>(<usize>load<u32>(HEADER, H_INCIDENCES) + (<usize>n << 2)); }

/** Counting sort of all pairs by particle, in pair order within each. */
export function findIncidences(): void {
  if (load<i32>(HEADER, H_INCIDENT_VALID)) return;
  store<i32>(HEADER, 1, H_INCIDENT_VALID);
  const starts = <usize>load<u32>(HEADER, H_INCIDENT), list = <usize>load<u32>(HEADER, H_INCIDENCES), X = <usize>load<u32>(HEADER, H_X), particles = load<i32>(HEADER, H_PARTICLES);
  const touches = <usize>load<u32>(HEADER, H_TOUCHES), count = load<i32>(HEADER, H_TOUCH_COUNT) << 2;
  memory.fill(starts, 0, <usize>(particles + 1) << 2);
  for (let pair = 0; pair < count; pair++) {
    const lane = touches + <usize>(pair >> 2) * TOUCH_BYTES + (<usize>(pair & 3) << 2);
    if (load<f32>(lane, TOUCH_KEEP) < 0) continue; // padding
    for (let k: usize = 0; k < 64; k += 16) {
      const at = starts + ((<usize>load<u32>(lane + k) - X) >> 2);
      store<i32>(at, load<i32>(at) + 1);
    }
  }
  // counts -> ends, which filling from the back turns into starts
  let sum = 0;
  for (let n = 0; n <= particles; n++) {
    sum += load<i32>(starts + (<usize>n << 2));
    store<i32>(starts + (<usize>n << 2), sum);
  }
  for (let pair = count - 1; pair >= 0; pair--) {
    const lane = touches + <usize>(pair >> 2) * TOUCH_BYTES + (<usize>(pair & 3) << 2);
    if (load<f32>(lane, TOUCH_KEEP) < 0) continue;
    for (let k: usize = 0; k < 64; k += 16) {
      const at = starts + ((<usize>load<u32>(lane + k) - X) >> 2), place = load<i32>(at) - 1;
      store<i32>(at, place);
      store<i32>(list + (<usize>place << 2), pair);
    }
  }
}

/**
 * Plans memory for contacts of rigid bodies (kernel/assembly/contact/solve/rigidContact.ts), and sets the marks of
 * their particles.
 */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import type { BodyTemplate } from "../../body/template.ts";
import type { Allocator } from "../memoryMap.ts";

/**
 * Contacts per particle: a corner of a box may lie on up to six triangles, each of them near. Contacts above this are
 * solved particle by particle.
 */
const RIGID_CONTACTS_PER_PARTICLE = 10;

export interface PlannedContacts {
  /**
   * Called after the memory of contact between surfaces is written.
   * @param firsts first particle of each body
   */
  write: (buffer: ArrayBufferLike, firsts: readonly number[]) => void;
}

/** True if the body moves as one piece. */
export function isRigid(body: Pick<BodyTemplate, "shape">): boolean {
  return body.shape !== undefined && body.shape.mode !== "linear";
}

export function planRigidContacts(bodies: readonly BodyTemplate[], allocator: Allocator): PlannedContacts {
  const capacity =
    RIGID_CONTACTS_PER_PARTICLE * bodies.reduce((sum, body) => sum + (isRigid(body) ? body.streamedCount : 0), 0);
  const rows = capacity ? allocator.take(capacity * L.RIGID_CONTACT_BYTES) : 0;
  // few contacts persist at a time
  const places = capacity ? 2 ** Math.ceil(Math.log2(capacity / 2)) : 0;
  const kept = places ? allocator.take(places * L.RIGID_KEPT_BYTES) : 0;
  return {
    write(buffer, firsts) {
      const i32 = new Int32Array(buffer);
      const marks = new Uint16Array(buffer, i32[(L.HEADER + L.H_MARKS) / 4]!);
      i32[(L.HEADER + L.H_RIGID_CONTACTS) / 4] = rows;
      i32[(L.HEADER + L.H_RIGID_CONTACT_CAPACITY) / 4] = capacity;
      i32[(L.HEADER + L.H_RIGID_KEPT) / 4] = kept;
      i32[(L.HEADER + L.H_RIGID_KEPT_CAPACITY) / 4] = places;
      bodies.forEach((body, b) => {
        if (isRigid(body)) marks.fill(L.MARK_RIGID, firsts[b]!, firsts[b]! + body.particleCount);
      });
    },
  };
}

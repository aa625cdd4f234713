/** The requirements of every store for the audit log (conformance.ts). */
import { expect, test } from "vitest";
import type { Store } from "../../../server/store/store.ts";
import { AUDIT_ENTRIES, record } from "./conformanceKit.ts";

/** @param stores two that are opened on one database */
export function auditConformance(stores: () => [Store, Store]): void {
  test("the audit log is read newest first, by room or whole", async () => {
    const { name: room } = record();
    for (let i = 0; i < 5; i++) {
      await stores()[0].audit({
        at: new Date(1e12 + i).toISOString(),
        actor: "ann",
        action: "kick",
        room: i % 2 ? room : null,
        details: { i, who: "bob; DROP TABLE rooms" },
      });
    }
    expect((await stores()[1].readAudit({ room, limit: 10 })).map(({ details }) => details.i)).toEqual([3, 1]);
    expect(await stores()[1].readAudit({ limit: 2 })).toEqual([
      {
        at: new Date(1e12 + 4).toISOString(),
        actor: "ann",
        action: "kick",
        room: null,
        details: { i: 4, who: "bob; DROP TABLE rooms" },
      },
      expect.objectContaining({ room }),
    ]);
  });

  test("the newest entries of the audit log are kept, up to the configured number", async () => {
    for (let i = 0; i < AUDIT_ENTRIES + 20; i++)
      await stores()[i % 2]!.audit({
        at: new Date(2e12 + i).toISOString(),
        actor: "eve",
        action: "denied",
        room: null,
        details: { i },
      });
    expect((await stores()[1].readAudit({ limit: 10 * AUDIT_ENTRIES })).map(({ details }) => details.i)).toEqual(
      Array.from({ length: AUDIT_ENTRIES }, (_, k) => AUDIT_ENTRIES + 19 - k),
    );
  });
}

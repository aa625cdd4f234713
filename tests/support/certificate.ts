/** A self-signed certificate for 127.0.0.1, for tests of TLS. */
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";

const PROGRAM = "openssl";

/** The program, or undefined if it is not installed. */
export const findOpenssl = (): string | undefined =>
  spawnSync(PROGRAM, ["version"]).status === 0 ? PROGRAM : undefined;

/** @returns files (PEM) in the folder */
export function makeCertificate(openssl: string, folder: string): { cert: string; key: string } {
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const subject = ["-subj", "/CN=pliant", "-addext", "subjectAltName=IP:127.0.0.1"];
  const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  execFileSync(openssl, ["req", "-x509", ...made, ...subject, "-keyout", key, "-out", cert], { stdio: "ignore" });
  return { cert, key };
}

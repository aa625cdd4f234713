/**
 * `npm run fit:hexahedron`: repeats the fit of the hexahedral element to finite elements and prints it beside the
 * published numbers (Rodero Gomez, section 4.2).
 */
import { cubeSprings, publishedCoefficients } from "../../server/sim/constraints/hexahedron.ts";
import { fitCoefficients, PUBLISHED, referenceMatrix, refit, relativeError } from "./hexahedralFit.ts";
import { frobenius, latticeModuli, springMatrix } from "./hexahedralStiffness.ts";

const four = (values: readonly number[]): string => values.map((v) => v.toFixed(4).padStart(8)).join("");
const percent = (v: number): string => `${(100 * v).toFixed(1)} %`.padStart(8);

console.log(
  "k_e k_f k_d k_v of the best fit to K_FEM of eq 2.6, the published polynomials, relative errors of both (eq 4.8)",
);
console.log("  nu          fitted                          error    published                       error");
for (let i = 0; i < 50; i += i < 45 ? 5 : 1) {
  const nu = i / 100;
  const K = referenceMatrix(nu, "thesis");
  const { k, error } = fitCoefficients(K);
  const published = publishedCoefficients(nu);
  console.log(`  ${nu.toFixed(2)}${four(k)}${percent(error)}${four(published)}${percent(relativeError(published, K))}`);
}

console.log("\npolynomials in nu, constant first; mean square of the residuals (table 4.1)");
for (const p of PUBLISHED) {
  const again = refit(p);
  console.log(
    `  ${p.name}, nu ${p.low ? "<=" : ">="} 0.29  published ${p.coefficients.map((c) => c.toFixed(4).padStart(9)).join(" ")}   ${p.meanSquare.toExponential(4)}`,
  );
  console.log(
    `                    refitted ${again.coefficients.map((c) => c.toFixed(4).padStart(9)).join(" ")}   ${again.meanSquare.toExponential(4)}`,
  );
}

console.log(
  "\nmoduli of a lattice of such cubes for k = 1 and nu, and its matrix error against K_FEM with shear modulus k/(2(1 + nu))",
);
console.log("  nu      published: k       nu  shear/right    error    moduli: k       nu  shear/right    error");
for (const nu of [0, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.49]) {
  const right = referenceMatrix(nu, "right");
  const row = (["published", "moduli"] as const).map((fit) => {
    const K = springMatrix(cubeSprings({ youngsModulus: 1, poissonsRatio: nu, fit }, 2), 2);
    const { k, nu: shown, G } = latticeModuli(K, 2);
    return `${k.toFixed(3).padStart(16)}${shown.toFixed(4).padStart(9)}${(G * 2 * (1 + nu)).toFixed(3).padStart(13)}${percent(frobenius(K.map((v, i) => v - right[i]!)) / frobenius(right))} `;
  });
  console.log(`  ${nu.toFixed(2)}${row.join("")}`);
}

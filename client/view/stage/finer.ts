/** Code for renderers that are fast enough, in a file of its own: soft shadows and smooth sheets. */
import "./penumbra.ts";

export { refineSheet } from "../bodies/smoothSheet.ts";

/**
 * Exact answers for tests of the kernel's own detection: the collision checker's, which share no code with the kernel.
 */
export {
  edgeEdge as exactEdgeEdge,
  vertexTriangle as exactVertexTriangle,
} from "../../server/tools/check/exact/swept.ts";

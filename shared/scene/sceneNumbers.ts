/** Numbers that several files of scene types share. */

// its square fits into the simulation's float32
/** @exclusiveMinimum 0 @maximum 1e15 */
export type Positive = number;
/** s @minimum 0 @maximum 1e6 */
export type Time = number;
/** m/N; 0 is rigid. @minimum 0 @maximum 1e15 */
export type Compliance = number;

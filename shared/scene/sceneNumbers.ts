/** Numbers that several files of scene types share. */

// its square fits into the simulation's float32
/** @exclusiveMinimum 0 @maximum 1e15 */
export type Positive = number;
/** s @minimum 0 @maximum 1e6 */
export type Time = number;
/** m/N; 0 is rigid. @minimum 0 @maximum 1e15 */
export type Compliance = number;
/** @minimum -1e6 @maximum 1e6 */
export type Scalar = number;
export type Vec3 = [Scalar, Scalar, Scalar];
/** Pa @exclusiveMinimum 0 @maximum 1e13 */
export type Modulus = number;
/** nu, dimensionless @minimum 0 @maximum 0.4999 */
export type PoissonsRatio = number;
/** dv/dt = -damping v, 1/s. @minimum 0 @maximum 10000 */
export type Damping = number;
/** Coefficient of dynamic Coulomb friction; geometric mean with the partner's. @minimum 0 @maximum 10 */
export type Friction = number;

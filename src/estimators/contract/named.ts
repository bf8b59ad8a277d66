import type { EstimatorParameters } from './generated/parameters.js';

export type { EstimatorParameters, PerColumn } from './generated/parameters.js';

/** The name of an estimator of Keelson. */
export type EstimatorName = keyof EstimatorParameters;

/** The parameters of an estimator of this name; of one that is not Keelson's own, any. */
export type ParametersOf<Name extends string> = Name extends EstimatorName
  ? EstimatorParameters[Name] : Readonly<Record<string, unknown>>;

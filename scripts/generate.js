// Makes the generated sources if they are missing or out of date.
import { generateEstimators } from './generate-estimators.js';
import { generateKernels } from './generate-kernels.js';
import { generateProto } from './generate-proto.js';

generateProto();
generateKernels();
// It runs the estimators, which need the kernels.
await generateEstimators();

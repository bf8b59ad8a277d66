// Makes the generated sources if they are missing or out of date.
import { generateKernels } from './generate-kernels.js';
import { generateParameters } from './generate-parameters.js';
import { generateProto } from './generate-proto.js';

generateProto();
generateKernels();
// It runs the estimators, which need the kernels.
generateParameters();

import { afterEach } from 'vitest';
import { closeStages } from '../support/dashboard-stage.js';

export { refusal, Stage, valueOf } from '../support/dashboard-stage.js';

afterEach(closeStages);

import type { AdmissionRequest, AdmissionResult } from '../contract.js';
import type { NamedMethod } from './messages.js';

/**
 * Runs the engine, on this thread or on a worker. Calls are executed in the order they were made.
 */
export interface Caller {
  call(method: NamedMethod, args: readonly unknown[]): Promise<unknown>;
  admit(batches: readonly AdmissionRequest[]): Promise<readonly AdmissionResult[]>;
  close(): Promise<void>;
}

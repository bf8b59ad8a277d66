import { ROOT_CONTEXT, trace as api, type Attributes, type Span } from '@opentelemetry/api';
import { packageVersion } from './place.js';

/**
 * One piece of work that is traced, and its steps, one after the other. Fields are public facts and
 * codes; never row values, keys of contributors, or secrets.
 */
export interface Trace {
  /** Ends the step under way and begins one. @param atMs Unix time. Default: now. */
  step(name: string, atMs?: number): void;
  /** Ends the work and its last step. @param atMs Unix time. Default: now. */
  end(fields: Attributes, atMs?: number): void;
}

/** Begins traces. */
export interface Tracing {
  /** @param atMs Unix time. Default: now. */
  begin(name: string, fields: Attributes, atMs?: number): Trace;
}

const untraced: Trace = { step: () => undefined, end: () => undefined };

/** Nothing is traced: the default. */
export const noTracing: Tracing = { begin: () => untraced };

/**
 * Gives traces to the OpenTelemetry SDK that the process has registered. Without one they go
 * nowhere.
 */
export function openTelemetry(): Tracing {
  const tracer = api.getTracer('keelson', packageVersion());
  return {
    begin(name, attributes, atMs) {
      const whole = tracer.startSpan(name, { attributes, ...from(atMs) }, ROOT_CONTEXT);
      const inside = api.setSpan(ROOT_CONTEXT, whole);
      let current: Span | undefined;
      return {
        step(stepName, stepMs) {
          current?.end(stepMs);
          current = tracer.startSpan(stepName, from(stepMs), inside);
        },
        end(fields, endMs) {
          current?.end(endMs);
          whole.setAttributes(fields);
          whole.end(endMs);
        },
      };
    },
  };
}

const from = (atMs: number | undefined): { startTime?: number } =>
  (atMs === undefined ? {} : { startTime: atMs });

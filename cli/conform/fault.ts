/** A client program's violation of the protocol. The text is for the author of the client. */
export class ConformanceFault extends Error {}

/** @throws ConformanceFault with the text unless the condition holds. */
export function expect(condition: boolean, text: string): asserts condition {
  if (!condition) throw new ConformanceFault(text);
}

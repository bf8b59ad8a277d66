import { InvalidParameterError } from './errors.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/**
 * Writes a text as UTF-8 from a place on. Returns how many bytes it wrote; -1 if there was no room
 * for all of them. Short ASCII texts, which most keys are, take no other memory.
 */
export function writeUtf8(text: string, into: Uint8Array, from: number): number {
  if (text.length > into.length - from) return -1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 127) {
      const { read, written } = encoder.encodeInto(text, into.subarray(from));
      return read === text.length ? written : -1;
    }
    into[from + at] = code;
  }
  return text.length;
}

/** @throws TypeError when the bytes are not UTF-8. */
export function fromUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const total = parts.reduce((sum, part) => sum + part.length, 0);
  const joined = new Uint8Array(total);
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Compares public bytes; not constant-time. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  for (let i = 0; i < left.length; i++) if (left[i] !== right[i]) return false;
  return true;
}

const hexDigits = '0123456789abcdef';

export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += hexDigits[byte >> 4]! + hexDigits[byte & 15]!;
  return text;
}

/** @throws InvalidParameterError when the text is not an even number of hexadecimal digits. */
export function fromHex(text: string): Uint8Array {
  if (text.length % 2 !== 0 || /[^0-9a-fA-F]/.test(text)) {
    throw new InvalidParameterError(
      'expected an even number of hexadecimal digits', { length: text.length },
    );
  }
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0;
      i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let i = 0; i < bytes.length; i += 8192) {
    binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
  }
  return btoa(binary);
}

/** @throws InvalidParameterError when the text is not base64. */
export function fromBase64(text: string): Uint8Array {
  let binary: string;
  try {
    binary = atob(text);
  } catch (cause) {
    throw new InvalidParameterError(
      'expected base64', { length: text.length, cause: String(cause) },
    );
  }
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

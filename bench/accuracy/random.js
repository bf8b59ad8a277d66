// Repeatable random numbers for generated data. Never for noise or keys.

/** Fast and repeatable, for generated data only: Doty-Humphrey's sfc32, seeded with a text. */
export function randomOf(seed) {
  let [a, b, c, counter] = [0x9e3779b9, 0x243f6a88, 0xb7e15162, 1];
  const next = () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum | 0;
    return sum >>> 0;
  };
  for (const character of seed) {
    a ^= character.codePointAt(0);
    next();
  }
  for (let i = 0; i < 20; i++) next();
  const uniform = () => (next() + 0.5) / 2 ** 32;
  let spare = null;
  const normal = () => {
    if (spare !== null) {
      const kept = spare;
      spare = null;
      return kept;
    }
    const radius = Math.sqrt(-2 * Math.log(uniform()));
    const angle = 2 * Math.PI * uniform();
    spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
  return { uniform, normal };
}

// The block of pixels in which an environment paints its clock (pluriverse_protocol/metadata.py has the layout).

export const WIDTH = 6;
export const HEIGHT = 2;

const ANCHOR = [
  [0x12, 0x34, 0x56, 0x78, 0x90, 0xab],
  [0x23, 0x45, 0x67, 0x89, 0x0a, 0xbc],
];

/** The remote's clock in UNIX milliseconds when the block was painted; null without one.
 *  `pixels`: RGBA bytes of WIDTH x HEIGHT. */
export function readClock(pixels) {
  const rows = [0, 1].map((row) => colours(pixels, row * WIDTH, WIDTH));
  if (!ANCHOR.every((anchor, row) => anchor.every((byte, i) => rows[row][i] === byte))) return null;
  // 48 bits: more than JavaScript's shifts carry, less than its numbers do.
  return rows[0].slice(6, 12).reduce((clock, byte) => clock * 256 + byte, 0);
}

function colours(pixels, first, count) {
  const bytes = [];
  for (let i = first; i < first + count; i++) bytes.push(pixels[4 * i], pixels[4 * i + 1], pixels[4 * i + 2]);
  return bytes;
}

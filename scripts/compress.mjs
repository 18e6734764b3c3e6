// Writes FILE.br and FILE.gz beside each file, where they are smaller than it.
//
//   node compress.mjs FILE …

import { readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

for (const file of process.argv.slice(2)) {
  const data = readFileSync(file);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: data.length };
  const packed = { br: brotliCompressSync(data, { params }), gz: gzipSync(data, { level: 9 }) };
  for (const [suffix, bytes] of Object.entries(packed)) {
    if (bytes.length < data.length) {
      writeFileSync(`${file}.${suffix}`, bytes);
    }
  }
}

// Writes tar and zip files that are the same bytes for the same entries, on every machine. An entry is
// { path, data, mode }; its time is SOURCE_DATE_EPOCH.

import { crc32, deflateRawSync, gzipSync } from 'node:zlib';

/** The time of every entry, in seconds. A zip file cannot hold one before 1980. */
export function epoch() {
  return Math.max(Number(process.env.SOURCE_DATE_EPOCH ?? 0), Date.UTC(1980, 0, 1) / 1000);
}

/** The entries in the order in which they are written, whatever order they were found in. */
export function sorted(entries) {
  return entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** A compressed tar file. `level`: of the compression, 1 to 9. */
export function tarball(entries, level) {
  return gzipSync(Buffer.concat([...sorted(entries).flatMap(tarEntry), Buffer.alloc(1024)]), { level });
}

function tarEntry({ path, data, mode = 0o644 }) {
  const header = Buffer.alloc(512);
  // A path that is too long for its field continues in another one.
  const cut = path.length <= 100 ? -1 : path.indexOf('/', path.length - 101);
  header.write(path.slice(cut + 1), 0);
  header.write(path.slice(0, Math.max(cut, 0)), 345);
  if (path.length - cut - 1 > 100 || cut > 155) throw new Error(`the path is too long for a tar file: ${path}`);
  const octal = (value, at, width) => header.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(data.length, 124, 12);
  octal(epoch(), 136, 12);
  header.write('        ', 148); // the checksum is computed with spaces in its place
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  header.write(`${header.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, '0')}\0 `, 148);
  return [header, data, Buffer.alloc(-data.length & 511)];
}

/** A zip file. */
export function zip(entries, level) {
  const time = new Date(epoch() * 1000);
  const clock = (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1);
  const date = ((time.getUTCFullYear() - 1980) << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate();
  const parts = [], index = [];
  let at = 0;
  for (const { path, data, mode = 0o644 } of sorted(entries)) {
    const name = Buffer.from(path);
    const packed = deflateRawSync(data, { level });
    const shared = Buffer.alloc(26); // what both headers contain
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(0x0800, 2); // the name is UTF-8
    shared.writeUInt16LE(8, 4);
    shared.writeUInt16LE(clock, 6);
    shared.writeUInt16LE(date, 8);
    shared.writeUInt32LE(crc32(data), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(data.length, 18);
    shared.writeUInt16LE(name.length, 22);
    const central = Buffer.alloc(14);
    central.writeUInt32LE(((0o100000 | mode) << 16) >>> 0, 6); // the mode of a regular file
    central.writeUInt32LE(at, 10);
    const local = [Buffer.from('PK\x03\x04'), shared, name, packed];
    parts.push(...local);
    index.push(Buffer.from('PK\x01\x02'), Buffer.from([20, 3]), shared, central, name); // 3: made on Unix
    at += local.reduce((sum, part) => sum + part.length, 0);
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(index.reduce((sum, part) => sum + part.length, 0), 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, ...index, end]);
}

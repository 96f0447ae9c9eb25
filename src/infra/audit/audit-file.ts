// AuditFile: the append-only file under the audit sink. The only place here that touches the disk.
import { constants } from 'node:fs';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface AuditFile {
  /** Device and inode: tells the same file from another one under the same path. */
  readonly identity: string;
  /** True if the file's last byte when opened was not the end of a line. */
  readonly endsInsideLine: boolean;
  /** Appends some of the bytes and says how many. */
  append(bytes: Uint8Array): Promise<number>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export type OpenAuditFile = (path: string) => Promise<AuditFile>;

const NEWLINE = 0x0a;
/** Only ever added to, made if it is not there; readable, to see how its last writer left it. */
const FLAGS = constants.O_APPEND | constants.O_CREAT | constants.O_RDWR;

export async function openAuditFile(path: string): Promise<AuditFile> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await open(path, FLAGS, 0o600);
  try {
    const { dev, ino, size } = await handle.stat();
    const endsInsideLine = size > 0 && (await byteAt(handle, size - 1)) !== NEWLINE;
    return {
      identity: `${dev}:${ino}`,
      endsInsideLine,
      append: async (bytes) => (await handle.write(bytes, 0, bytes.length, null)).bytesWritten,
      sync: () => handle.datasync(),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function byteAt(handle: FileHandle, position: number): Promise<number | undefined> {
  const { bytesRead, buffer } = await handle.read(new Uint8Array(1), 0, 1, position);
  return bytesRead === 1 ? buffer[0] : undefined;
}

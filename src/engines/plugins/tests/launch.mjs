// A launch's folder as omni-run makes it, for the tests of the request plugins in JS.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const PREFIX = "## Injected Project Docs\n\n### a.md\n```\n\ttabs, é, 世界, 👩‍👩‍👧\n```\n\n";

/// Writes the launch file and points OMNI_RUN_PLUGIN at it; all is removed after the test.
export function makeLaunch(test, { prefix = PREFIX, display = null, files = [], ...rest } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "omni-run-plugin-"));
  const write = (name, text) => {
    if (text === null) return null;
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const mime = { png: "image/png", pdf: "application/pdf" };
  const attachments = files.map((name) => {
    const kind = name.split(".").at(-1);
    return { path: write(name, `bytes of ${name}`), mime: mime[kind], kind, name };
  });
  const spec = {
    version: 1,
    prefix_file: write("prefix.txt", prefix),
    display_file: write("display.txt", display),
    attachments,
    instructions_file: null,
    receipt_file: join(folder, "receipt.jsonl"),
    resume: false,
    ...rest,
  };
  process.env.OMNI_RUN_PLUGIN = write("plugin.json", JSON.stringify(spec));
  test.after(() => {
    delete process.env.OMNI_RUN_PLUGIN;
    rmSync(folder, { recursive: true, force: true });
  });
  const receipt = () => {
    if (!existsSync(spec.receipt_file)) return [];
    return readFileSync(spec.receipt_file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
  };
  return {
    folder,
    paths: attachments.map(({ path }) => path),
    receipt,
    event: (name) => receipt().find(({ event }) => event === name),
    errors: () => receipt().filter(({ event }) => event === "error"),
  };
}

export function base64(text) {
  return Buffer.from(text).toString("base64");
}

// A file of a study: what it would run.
import type { Params } from "../../lib/address";
import { Empty } from "../../ui";

export function StudyFile({ file }: { file: string; params: Params }) {
  return (
    <Empty title={file}>
      Run it with <code>bentpipe study {file}</code>, and open the folder of results.
    </Empty>
  );
}

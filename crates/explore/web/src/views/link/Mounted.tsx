// The detail of the chosen transport, loaded when one is first chosen.
import type { ComponentType } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { change } from "../../lib/address";
import { Loading } from "../../ui";
import type { DetailProps } from "./detail/Detail";
import type { Shown } from "./run";
import type { RowFacts } from "./types";

interface MountedProps {
  readonly shown: Shown;
  readonly isStale: boolean;
  readonly row: RowFacts;
  readonly beside: RowFacts | undefined;
  readonly size: number;
}

export function Mounted({ shown, isStale, row, beside, size }: MountedProps) {
  const [Detail, load] = useState<ComponentType<DetailProps> | undefined>(undefined);
  const box = useRef<HTMLDivElement>(null);
  const options = useMemo(() => Object.entries(shown.options), [shown.options]);
  useEffect(() => {
    void import("./detail/Detail").then((module) => load(() => module.default));
  }, []);
  useEffect(() => {
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    box.current?.scrollIntoView({ block: "nearest", behavior: isCalm ? "auto" : "smooth" });
  }, [row.transport, row.pep]);
  return (
    <div class="link-detail" ref={box}>
      {Detail === undefined ? (
        <Loading />
      ) : (
        <Detail
          options={options}
          rows={shown.begin.rows}
          row={row}
          beside={beside}
          size={size}
          users={shown.begin.users}
          isDone={shown.isFinal && !isStale}
          onBeside={(key) => change({ _beside: key })}
          onClose={() => change({ _row: "", _beside: "", _seed: "", _user: "", _at: "" })}
        />
      )}
    </div>
  );
}

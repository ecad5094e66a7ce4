// The views, each loaded when it is first opened.
import type { ComponentType } from "preact";
import type { Params } from "../lib/address";
import type { IconName } from "../ui/Icon";

export interface ViewProps {
  readonly params: Params;
}

export interface View {
  title: string;
  /** For the title of the document and the tour. */
  about: string;
  icon: IconName;
  /** True if it holds what was typed and is not in the address. */
  keepsWork?: boolean;
  load: () => Promise<{ default: ComponentType<ViewProps> }>;
}

export const VIEWS: Readonly<Record<string, View>> = {
  link: {
    title: "Link",
    about: "which transport for this link",
    icon: "link",
    load: () => import("../views/link/Link"),
  },
  scenario: {
    title: "Scenario",
    about: "a network as text and picture",
    icon: "scenario",
    keepsWork: true,
    load: () => import("../views/scenario/Scenario"),
  },
  sky: {
    title: "Sky",
    about: "satellites, paths and handovers",
    icon: "sky",
    load: () => import("../views/sky/Sky"),
  },
  studies: {
    title: "Studies",
    about: "results, filtered and drawn",
    icon: "studies",
    load: () => import("../views/studies/Studies"),
  },
  papers: {
    title: "Papers",
    about: "printed tables beside ours",
    icon: "papers",
    load: () => import("../views/papers/Papers"),
  },
};

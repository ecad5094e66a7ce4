// The few pictograms of the page, drawn on a grid of 20 by 20.

const PATHS = {
  link: "M4 16 8.5 6.5M16 16 11.5 6.5M10 2.5v3M7.5 5h5M2.5 16.5h3.5M14 16.5h3.5",
  scenario: "M3 4h6M3 8h9M3 12h5M3 16h8M14 10l3 3-3 3",
  sky: "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14M3 10h14M10 3c-4.5 4-4.5 10 0 14M10 3c4.5 4 4.5 10 0 14",
  studies: "M3 17V3M3 17h14M6 13l3-4 3 2 4-6",
  papers: "M5 2.5h7l3.5 3.5v11.5H5zM12 2.5V6h3.5M7.5 10h5M7.5 13h5",
  share: "M10 12.5V3M6.5 6 10 2.5 13.5 6M4 10.5V17h12v-6.5",
  help: "M7.2 7.5a2.8 2.8 0 1 1 4.2 2.4c-1 .6-1.4 1.1-1.4 2.1M10 15v.2",
  light:
    "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M15.7 4.3l-1.1 1.1M5.4 14.6l-1.1 1.1",
  dark: "M16 12.2A6.8 6.8 0 0 1 7.8 4 6.8 6.8 0 1 0 16 12.2",
  auto: "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14v14M10 6h4.5M10 10h6.5M10 14h4.5",
  close: "M5 5l10 10M15 5 5 15",
  copy: "M7 7h9v10H7zM4 13V3h9",
  check: "M4 10.5l4 4 8-9",
  save: "M10 3v9M6.5 8.5 10 12l3.5-3.5M4 13.5V17h12v-3.5",
  play: "M6 4l10 6-10 6z",
  pause: "M7 4v12M13 4v12",
  stop: "M5 5h10v10H5z",
  back: "M12 4 6 10l6 6",
  forward: "M8 4l6 6-6 6",
  down: "M5 7.5l5 5 5-5",
  plus: "M10 4v12M4 10h12",
  minus: "M4 10h12",
  reset: "M4.5 7.5A6.5 6.5 0 1 1 3.5 11M4.5 3.5v4h4",
  open: "M3 16V5h5l2 2h7v9z",
  warn: "M10 3 18 17H2zM10 8.5v4M10 14.8v.2",
  more: "M4.5 10h.1M10 10h.1M15.5 10h.1",
} as const;

export type IconName = keyof typeof PATHS;

/** A pictogram beside words, or in a button that has a label: screen readers pass it by. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

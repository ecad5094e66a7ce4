// What views are built of.
export { Button, type ButtonProps } from "./Button";
export { Checkbox, Segmented, Tabs } from "./Choice";
export { Copy } from "./Copy";
export { Dialog } from "./Dialog";
export { Field, Select, TextField, TextOnLeave, type Aria } from "./Field";
export { headings } from "./headings";
export { Icon, type IconName } from "./Icon";
export { Menu, type MenuItem } from "./Menu";
export { PlainTable } from "./PlainTable";
export { Slider, type SliderProps } from "./Slider";
export { Split } from "./Split";
export { Empty, Failed, Loading, messageOf, Note, Progress } from "./State";
export { Table, type Column, type Sort } from "./Table";
export { announce, toast } from "./toast";
export { HelpMark, Tooltip } from "./Tooltip";
export { Words } from "./Words";

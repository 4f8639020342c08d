"""Planted bugs of bayesrl.worlds.tasks._task_sequence."""

MODULE = "bayesrl.worlds.tasks._task_sequence"
PLANTED = {
    "a task lasts a step too long": (
        "if age >= self.length:",
        "if age > self.length:",
        ["tests/worlds/tasks/test_task_worlds.py::test_tasks_take_turns_and_records_say_whose_step_it_was"],
    ),
}

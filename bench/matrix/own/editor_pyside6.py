"""A text field of Qt 6, by PySide6."""

from PySide6.QtWidgets import QApplication, QPlainTextEdit

application = QApplication([])
editor = QPlainTextEdit("text")
editor.resize(800, 600)
editor.show()
application.exec()
